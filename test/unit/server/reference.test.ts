import { expect, test } from "vitest";
import { openApiDocument } from "../../../scripts/generate/openapi/document.ts";
import type { OpenApiDocument } from "../../../scripts/generate/openapi/document-types.ts";
import { referencePage } from "../../../scripts/generate/reference/reference-page.ts";
import { stylesheet } from "../../../scripts/generate/reference/stylesheet.ts";
import { routesOf } from "../../support/openapi.ts";

const document = openApiDocument({ documentedOnly: false, unknownFields: "refuse" });
const page = referencePage(document);

const all = (pattern: RegExp) => Array.from(page.matchAll(pattern), ([, found = ""]) => found);

test("the page shows every operation, resource, manifest and refusal of the document", () => {
  const ids = new Set(all(/ id="([^"]+)"/g));
  for (const { operation, path } of routesOf(document)) {
    expect(ids).toContain(operation.operationId);
    expect(page.replaceAll(/<\/?b>/g, "")).toContain(`<code>${path}</code>`);
  }
  for (const name of Object.keys(document.components.schemas)) {
    if (name.endsWith("Manifest")) expect(ids).toContain(`schema-${name}`);
  }
  expect(ids).toContain("schema-Deployment");
  for (const { description } of Object.values(document.components.responses)) {
    expect(page.replaceAll(/<\/?code>/g, "`").replaceAll("&#39;", "'")).toContain(description);
  }
});

test("every link of the page leads somewhere on it or to the document, and no id is given twice", () => {
  const ids = all(/ id="([^"]+)"/g);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  const targets = new Set([...ids.map((id) => `#${id}`), "/openapi.json", "/docs/style.css"]);
  expect(all(/ (?:href|src)="([^"]*)"/g).filter((link) => !targets.has(link))).toEqual([]);
});

test("the page needs nothing from elsewhere and runs nothing", () => {
  expect(page).not.toMatch(/<script|<iframe|<img|<form| style="| on\w+="|javascript:/i);
  expect(stylesheet).not.toMatch(/url\(|@import|https?:/);
});

test("the page is no larger than a page should be", () => {
  expect(page.length).toBeLessThan(1024 * 1024);
});

test("whatever a document says is shown as text", () => {
  const evil = "<script>alert(1)</script>";
  const [first] = document.tags;
  const spoilt: OpenApiDocument = {
    ...document,
    info: { ...document.info, title: evil, description: evil },
    tags: [{ name: first?.name ?? "", description: `${evil} & "'` }],
  };
  const text = referencePage(spoilt);
  expect(text).not.toContain(evil);
  expect(text).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;&#39;");
});

test("the example call of every write can be given to a shell as it is", () => {
  const calls = all(/<figcaption>Request<\/figcaption><pre tabindex="0"><code>([\s\S]*?)<\/code>/g);
  expect(calls).toHaveLength(routesOf(document).length);
  for (const call of calls) {
    expect(call).toMatch(/^curl (?:-X (?:PUT|POST) )?&quot;\$HOLDFAST_URL\/api\/(?:svc|ml)\/v1\/[\w/%.-]+&quot;/);
    const [, body] = /-d &#39;([\s\S]*)&#39;$/.exec(call) ?? [];
    if (body !== undefined) expect(() => JSON.parse(body.replaceAll("&quot;", '"'))).not.toThrow();
  }
});
