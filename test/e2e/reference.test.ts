import { expect, test } from "vitest";
import { openApiDocument } from "../../scripts/generate/openapi/document.ts";
import { servedDocument } from "../../scripts/generate/openapi/served-document.ts";
import { referencePage } from "../../scripts/generate/reference/reference-page.ts";
import { serve } from "../support/server.ts";

test.each([
  [[], { documentedOnly: false, unknownFields: "refuse" }],
  [["--documented-only", "--unknown-fields", "allow"], { documentedOnly: true, unknownFields: "allow" }],
] as const)("a bundle answers the reference that its build has rendered (serve %j)", async (flags, options) => {
  const { url } = await serve([...flags]);
  expect(await (await fetch(`${url}/openapi.json`)).text()).toBe(JSON.stringify(servedDocument(options)));
  expect(await (await fetch(`${url}/docs`)).text()).toBe(referencePage(openApiDocument(options)));
  for (const [path, type] of Object.entries({ "/docs/style.css": /^text\/css/, "/docs/page.js": /^text\/javascript/ }))
    expect((await fetch(url + path)).headers.get("content-type")).toMatch(type);
});
