import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../../src/contract/json.ts";
import { STAGED_FILES, stagedFileOperations } from "../../../src/contract/staged-files.ts";
import type { Schema, Schemas } from "../../../src/server/openapi/json-schema.ts";
import type { OpenApiDocument } from "../openapi/document-types.ts";
import { errorCodes } from "../openapi/error-codes.ts";
import { findUnion } from "../openapi/read-schema.ts";
import { sampleValue } from "../openapi/sample-value.ts";
import { fieldList } from "./field-list.ts";
import { type Html, html } from "./html.ts";
import {
  hasSection,
  headingAnchor,
  inlineCode,
  isResource,
  jsonCode,
  paragraphs,
  schemaAnchor,
  typeWords,
  withFullStop,
} from "./markup.ts";
import { methodBadge, operationSection, type PathOperation } from "./operation-section.ts";

/** The API reference as one page, which can be read without its script. */
export function referencePage(document: OpenApiDocument): string {
  const families = document.tags.map(({ name, description }) => ({
    name,
    description,
    operations: placed(document, name),
  }));
  const named = Object.entries(document.components.schemas).filter(([name]) => hasSection(name));
  const resources = named.filter(([name]) => isResource(name));
  const manifests = named.filter(([name]) => !isResource(name));
  const menu = html`${contents(
    introduction(document).map(({ title }) => title),
    families,
  )}${schemaMenu("Resources", resources)}${schemaMenu("Manifests", manifests)}`;
  const { markup } = html`
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${document.info.title}: API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/style.css">
<script type="module" src="docs/page.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><a class="brand" href="#content">${mark}<span>Holdfast</span> <span class="thin">API reference</span></a><div id="search"></div><a class="raw" href="openapi.json">openapi.json</a></header>
<details class="menu"><summary>Contents</summary><nav aria-label="Contents">${menu}</nav></details>
<div class="layout">
<aside><nav aria-label="Contents">${menu}</nav></aside>
<main id="content" tabindex="-1">
<h1>${document.info.title}</h1>
${introduction(document).map(
  ({ title, body }) => html`<section class="intro" id="${headingAnchor(title)}"><h2>${title}</h2>${body}</section>
`,
)}
${families.map(
  ({
    name,
    description,
    operations,
  }) => html`<section class="family" id="${headingAnchor(name)}"><h2>${name}</h2><p class="lead">${description}</p>
${operations.map((one) => operationSection(document, one))}</section>
`,
)}
<section class="family" id="resources"><h2>Resources</h2><p class="lead">What replies carry.</p>
${resources.map(([name, schema]) => schemaSection(document, name, schema))}</section>
<section class="family" id="manifests"><h2>Manifests</h2><p class="lead">What is declared.</p>
${manifests.map(([name, schema]) => schemaSection(document, name, schema))}</section>
</main>
</div>
</body>
</html>
`;
  return `<!doctype html>${markup}`;
}

// The logo: a knot around a post.
const mark = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M12 2v20M5 7c0 4 14 3 14 7s-14 3-14 7" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"/></svg>`;

type Family = { readonly name: string; readonly operations: readonly PathOperation[] };

function placed({ paths }: OpenApiDocument, family: string): readonly PathOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { tags }]) => tags.includes(family))
      .map(([method, operation]) => ({ method, path, operation })),
  );
}

function contents(titles: readonly string[], families: readonly Family[]): Html {
  const links = titles.map((title) => html`<li><a href="#${headingAnchor(title)}">${title}</a></li>`);
  const groups = families.map(
    ({ name, operations }) =>
      html`<h2><a href="#${headingAnchor(name)}">${name}</a></h2><ul>${operations.map(
        ({ method, operation: { operationId, summary } }) =>
          html`<li><a href="#${operationId}">${methodBadge(method)}<span>${summary}</span></a></li>`,
      )}</ul>`,
  );
  return html`<ul>${links}</ul>${groups}`;
}

function schemaMenu(title: string, named: readonly (readonly [string, unknown])[]): Html {
  const links = named.map(([name]) => html`<li><a href="#${schemaAnchor(name)}">${name}</a></li>`);
  return html`<h2><a href="#${headingAnchor(title)}">${title}</a></h2><ul class="names">${links}</ul>`;
}

/** The section of a named schema: its fields and an example. */
function schemaSection({ components: { schemas } }: OpenApiDocument, name: string, schema: Schema): Html {
  const { anyOf, description = "" } = schema;
  const hasFields = anyOf === undefined || findUnion(schema) !== undefined;
  const anchor = schemaAnchor(name);
  const fields = hasFields ? fieldList(schemas, schema) : html`<p>${typeWords(schemas, schema)}</p>`;
  return html`<section class="operation schema" id="${anchor}">
<div class="words"><h3><a href="#${anchor}">${name}</a></h3>${paragraphs(withFullStop(description))}${fields}</div>
<div class="code">${examples(schemas, name, schema)}</div>
</section>
`;
}

function examples(schemas: Schemas, name: string, schema: Schema): readonly Html[] {
  const { examples: given, ...described } = schema;
  const whole = sampleValue(schemas, described, [name]);
  const [short] = given ?? [];
  if (short === undefined) return [pane("Example", whole)];
  if (size(whole) <= size(short)) return [pane("Example", short)];
  return [pane("Shortest", short), pane("With more of its fields", whole)];
}

function pane(title: string, value: Json): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${jsonCode(value)}</code></pre></figure>`;
}

function size(value: Json): number {
  return JSON.stringify(value).length;
}

/** The sections that apply to all operations. */
function introduction(document: OpenApiDocument): readonly { readonly title: string; readonly body: Html }[] {
  return [
    {
      title: "Overview",
      body: html`${paragraphs(document.info.description)}<p>This page as an OpenAPI document: <a href="openapi.json">openapi.json</a>.</p>`,
    },
    {
      title: "Authentication",
      body: html`${paragraphs(
        "Every operation takes `Authorization: Bearer <token>`. The server writes the administrator's token to `admin-token` in its data folder when it first starts; use it to create virtual accounts for machines and personal access tokens for people.",
      )}<figure><figcaption>Shell</figcaption><pre tabindex="0"><code>export HOLDFAST_URL=http://127.0.0.1:7071
export HOLDFAST_TOKEN=$(cat .holdfast/control-plane/admin-token)</code></pre></figure>`,
    },
    {
      title: "Lists",
      body: paragraphs(
        "A list returns `data` and `pagination` with `total`, `offset` and `limit`. Request up to 1,000 rows at a time (`limit`, by default 100), starting at any row (`offset`). Rows come newest first, addons by name. Filters match exactly, never as patterns. Unknown parameters are ignored. Past the end, `data` is empty.",
      ),
    },
    {
      title: "Dry runs",
      body: paragraphs(
        "With `dryRun: true` a write is fully checked, changes nothing, and returns the reply that the write would return. Existing resources have their ids and times; a new resource has no id yet. No token is created.",
      ),
    },
    {
      title: "Safe retries",
      body: paragraphs(
        "A write with an `Idempotency-Key` is executed once, however often it arrives within 24 hours: a repetition gets the first reply again, a one-time token included. `Idempotency-Key-Accepted: true` in a reply says that the server honours keys.\n\n`X-Fencing-Token` rejects late writers: a write is refused with 412 when its number was not issued for its `X-Fencing-Scope`, or when a newer lease covers what is written.",
      ),
    },
    ...(hasExtensions(document) ? [{ title: "Files of staged versions", body: stagedFiles() }] : []),
    { title: "Roles", body: roles() },
    { title: "Errors", body: errors() },
  ];
}

function hasExtensions({ paths }: OpenApiDocument): boolean {
  return Object.values(paths)
    .flatMap(Object.values<OpenApiDocument["paths"][string][string]>)
    .some((operation) => operation["x-number"].startsWith("E"));
}

function stagedFiles(): Html {
  const { listStagedFiles, getStagedFile, putStagedFile } = stagedFileOperations;
  const rows = [
    [putStagedFile, "stores a file of any type, sent with `Content-Length`; the reply has `path`, `size` and `digest`"],
    [getStagedFile, "reads it, or with `Range` a part; so does `HEAD` without its content"],
    [listStagedFiles, "lists `path`, `size` and `digest` of the files, in pages"],
  ] as const;
  return html`${paragraphs(
    `Where the operator has chosen it, the files of a staged version go through this server (extension ${STAGED_FILES}). The \`storage_root\` of the stage is then an address of this server with a signed \`{stage}\`, which needs no token and expires. Files are sent and read as they are, not as JSON. After the version is registered nothing is stored any more, and a token with a role on the ml repo reads below the \`source.uri\` of the version, which is the address without the signature.`,
  )}${scrolled(
    "Files of staged versions",
    ["request", "effect"],
    html`<tbody>${rows.map(
      ([{ method, path }, effect]) =>
        html`<tr><th scope="row"><code>${method} ${path}</code></th><td>${inlineCode(withFullStop(effect))}</td></tr>`,
    )}</tbody>`,
  )}<figure><figcaption>Shell</figcaption><pre tabindex="0"><code>curl --fail-with-body -T model.safetensors "$STORAGE_ROOT/weights/model.safetensors"
curl --fail-with-body "$STORAGE_ROOT/"</code></pre></figure>`;
}

const CONTROL_PLANE = join(import.meta.dirname, "../../../docs/control-plane.md");

/** The roles, as the page of the operators has them, which a test holds to what the server does. */
function roles(): Html {
  const [, section = ""] = readFileSync(CONTROL_PLANE, "utf8").split("\n## Roles\n");
  const [lead = "", table = "", ...after] = (section.split("\n## ")[0] ?? "").trim().split("\n\n");
  const [names = [], , ...rows] = table.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  if (rows.length === 0) throw new Error("docs/control-plane.md has no table of roles");
  const body = rows.map(
    ([role = "", ...cells]) =>
      html`<tr><th scope="row">${plain(role)}</th>${cells.map((cell) => html`<td>${plain(cell)}</td>`)}</tr>`,
  );
  return html`<p>${plain(lead)}</p>${scrolled("Roles", names, html`<tbody>${body}</tbody>`)}${after
    .filter((paragraph) => !/^[|#`-]/.test(paragraph))
    .map((paragraph) => html`<p>${plain(paragraph)}</p>`)}`;
}

/** A text of Markdown with its code; its links lead to pages that a server does not have. */
function plain(markdown: string): Html {
  return inlineCode(markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1").replaceAll("**", ""));
}

function scrolled(name: string, columns: readonly string[], body: Html | readonly Html[]): Html {
  const heads = columns.map((column) => html`<th scope="col">${column}</th>`);
  return html`<div class="wide" role="region" aria-label="${name}" tabindex="0"><table><thead><tr>${heads}</tr></thead>${body}</table></div>`;
}

function errors(): Html {
  const byStatus = Map.groupBy(Object.entries(errorCodes), ([, { status }]) => status);
  const bodies = [...byStatus].map(([status, codes]) => {
    const rows = codes.map(
      ([code, { meaning }]) =>
        html`<tr id="error-${code}"><td><span class="status refused">${status}</span></td><th scope="row"><code>${code}</code></th><td>${inlineCode(withFullStop(meaning))}</td></tr>`,
    );
    return html`<tbody id="status-${status}">${rows}</tbody>`;
  });
  return html`${paragraphs(
    "Every error has one form: `statusCode`, a `message` for people, a `code` for programs and, for several errors, `details` with all of them. A `pointer` is relative to the manifest, or to the body when the body itself is malformed. `x-request-id` is the id of the request in the server's log.",
  )}${scrolled("Error codes", ["status", "code", "meaning"], bodies)}`;
}
