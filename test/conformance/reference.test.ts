import { expect, test } from "vitest";
import { servedDocument } from "../../scripts/generate/openapi/served-document.ts";
import { startControlPlane } from "../control-plane.ts";
import { documentOf } from "../support/openapi.ts";

test.each([false, true])(
  "a server tells of what it serves, and of no data, to anybody (documented only: %s)",
  async (documentedOnly) => {
    const { url } = await startControlPlane({ documentedOnly });
    const document = servedDocument({ documentedOnly, unknownFields: "refuse" });
    expect(await documentOf(url)).toEqual(JSON.parse(JSON.stringify(document)));
    const types = {
      "/openapi.json": "application/json",
      "/docs": "text/html",
      "/docs/style.css": "text/css",
      "/docs/page.js": "text/javascript",
    };
    for (const [path, type] of Object.entries(types)) {
      const { status, headers } = await fetch(url + path);
      expect([path, status, headers.get("content-type")]).toEqual([path, 200, `${type}; charset=utf-8`]);
      expect(headers.get("content-security-policy")).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect((await fetch(url + path, { method: "HEAD" })).status).toBe(200);
    }
  },
);

test("what is served of the reference is compressed for whoever takes gzip, and is the same", async () => {
  const { url } = await startControlPlane();
  for (const path of ["/openapi.json", "/docs", "/docs/style.css", "/docs/page.js"]) {
    const sizes: (string | null)[] = [];
    const texts: string[] = [];
    for (const accepted of ["gzip, br", "identity", "br, gzip;q=0"]) {
      const reply = await fetch(url + path, { headers: { "accept-encoding": accepted } });
      expect(reply.headers.get("vary")).toBe("accept-encoding");
      sizes.push(reply.headers.get("content-encoding"));
      texts.push(await reply.text());
    }
    expect([path, sizes, new Set(texts).size]).toEqual([path, ["gzip", null, null], 1]);
  }
});

test("the root leads a browser to the page, and tells a program where the documents are", async () => {
  const { url } = await startControlPlane();
  const browser = await fetch(url, {
    headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    redirect: "manual",
  });
  expect([browser.status, browser.headers.get("location"), browser.headers.get("vary")]).toEqual([
    302,
    "docs",
    "accept",
  ]);
  for (const accept of ["*/*", "application/json"]) {
    const reply = await fetch(url, { headers: { accept } });
    const body = await reply.json();
    expect([reply.status, body]).toEqual([200, { docs: "docs", openapi: "openapi.json" }]);
  }
});

test("with a slash at its end it is found too", async () => {
  const { url } = await startControlPlane();
  const reply = await fetch(`${url}/docs/`);
  expect([reply.status, reply.redirected, reply.url]).toEqual([200, true, `${url}/docs`]);
});
