import { expect, test } from "vitest";
import { openApiDocument } from "../../scripts/generate/openapi/document.ts";
import { referencePage } from "../../scripts/generate/reference/reference-page.ts";
import { serve } from "../support/server.ts";

test.each([
  [[], { documentedOnly: false, unknownFields: "refuse" }],
  [["--documented-only", "--unknown-fields", "allow"], { documentedOnly: true, unknownFields: "allow" }],
] as const)("a bundle answers the reference that its build has rendered (serve %j)", async (flags, options) => {
  const { url } = await serve([...flags]);
  const document = openApiDocument(options);
  expect(await (await fetch(`${url}/openapi.json`)).text()).toBe(JSON.stringify(document));
  expect(await (await fetch(`${url}/docs`)).text()).toBe(referencePage(document));
  for (const [path, type] of Object.entries({ "/docs/style.css": /^text\/css/, "/docs/page.js": /^text\/javascript/ }))
    expect((await fetch(url + path)).headers.get("content-type")).toMatch(type);
});
