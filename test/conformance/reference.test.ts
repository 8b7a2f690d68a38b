import { expect, test } from "vitest";
import { openApiDocument } from "../../scripts/generate/openapi/document.ts";
import { startControlPlane } from "../control-plane.ts";
import { documentOf } from "../support/openapi.ts";

test.each([false, true])(
  "a server tells of what it serves, and of no data, to anybody (documented only: %s)",
  async (documentedOnly) => {
    const { url } = await startControlPlane({ documentedOnly });
    const document = openApiDocument({ documentedOnly, unknownFields: "refuse" });
    expect(await documentOf(url)).toEqual(JSON.parse(JSON.stringify(document)));
    const types = { "/openapi.json": "application/json", "/docs": "text/html", "/docs/style.css": "text/css" };
    for (const [path, type] of Object.entries(types)) {
      const { status, headers } = await fetch(url + path);
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, `${type}; charset=utf-8`]);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; style-src 'self';.* frame-ancestors 'none'$/,
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect((await fetch(url + path, { method: "HEAD" })).status).toBe(200);
    }
  },
);

test("with a slash at its end it is found too", async () => {
  const { url } = await startControlPlane();
  const reply = await fetch(`${url}/docs/`);
  expect([reply.status, reply.redirected, reply.url]).toEqual([200, true, `${url}/docs`]);
});
