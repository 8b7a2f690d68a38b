import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openApiDocument } from "../../../scripts/generate/openapi/document.ts";
import type { OpenApiDocument } from "../../../scripts/generate/openapi/document-types.ts";
import { errorCodes } from "../../../scripts/generate/openapi/error-codes.ts";
import { referencePage } from "../../../scripts/generate/reference/reference-page.ts";
import type { ErrorBody } from "../../../src/contract/generated/resources.ts";
import { STAGED_PATH, stagedFileOperations } from "../../../src/contract/staged-files.ts";
import { roleTypeOf } from "../../../src/model/roles.ts";
import { routesOf } from "../../support/openapi.ts";

const document = openApiDocument({ documentedOnly: false, unknownFields: "refuse" });
const page = referencePage(document);
const { stylesheet, script } = JSON.parse(readFileSync("src/server/generated/reference/all-refuse.json", "utf8"));

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
    expect(page.replaceAll("&#39;", "'")).toContain(`title="${description}"`);
  }
});

test("the page says how files of staged versions are sent, where the server has extensions", () => {
  for (const { method, path } of Object.values(stagedFileOperations))
    expect(page).toContain(`<code>${method} ${path}</code>`);
  const documented = referencePage(openApiDocument({ documentedOnly: true, unknownFields: "refuse" }));
  expect(documented).not.toContain(STAGED_PATH);
});

test("every link of the page leads somewhere on it or to the document, and no id is given twice", () => {
  const ids = all(/ id="([^"]+)"/g);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  const targets = new Set([...ids.map((id) => `#${id}`), "openapi.json", "docs/style.css", "docs/page.js", "data:,"]);
  expect(all(/ (?:href|src)="([^"]*)"/g).filter((link) => !targets.has(link))).toEqual([]);
});

test("the page needs nothing from elsewhere, and has one script, which is served beside it", () => {
  const ownScript = '<script type="module" src="docs/page.js"></script>';
  expect(page.replace(ownScript, "")).not.toMatch(/<script|<iframe|<img|<form| style="| on\w+="|javascript:/i);
  expect(stylesheet).not.toMatch(/url\(|@import|https?:/);
  expect(script).not.toMatch(/localStorage|sessionStorage|indexedDB|document\.cookie|\beval\b|new Function/);
});

test("the page is no larger than a page should be, and small where it is compressed", () => {
  expect(page.length).toBeLessThan(1024 * 1024);
  const sent = [page, stylesheet, script].map((text) => gzipSync(text).length);
  expect(sent.reduce((sum, bytes) => sum + bytes)).toBeLessThan(110_000);
});

test("the page has every error code, and every role that is built in", () => {
  const ids = all(/ id="error-([^"]+)"/g);
  expect(ids).toEqual(Object.keys(errorCodes));
  const [, roles = ""] = /<section class="intro" id="roles">([\s\S]*?)<\/section>/.exec(page) ?? [];
  const builtIn = ["tenant", "cluster", "workspace", "ml-repo", "secret-group"].flatMap((type) =>
    Object.keys(roleTypeOf(type)?.roles ?? {}),
  );
  expect(builtIn.length).toBeGreaterThan(10);
  expect(builtIn.filter((role) => !roles.includes(`<code>${role}</code>`))).toEqual([]);
  for (const { content } of Object.values(document.components.responses)) {
    const { statusCode, code = "" } = (content?.["application/json"].example ?? {}) as Partial<ErrorBody>;
    expect([code, errorCodes[code]?.status]).toEqual([code, statusCode]);
  }
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
