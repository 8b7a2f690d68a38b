import { type Html, html } from "../../../http/html.ts";
import type { OpenApiDocument } from "../../openapi/document-types.ts";
import { introduction } from "./introduction.ts";
import { methodBadge, operationSection, type PathOperation } from "./operation-section.ts";
import { hasSection, headingAnchor, isResource, schemaAnchor } from "./page-sections.ts";
import { schemaSection } from "./schema-section.ts";

/** The API reference as one page that needs only its stylesheet. */
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
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="bar"><a class="brand" href="#content">${mark}<span>Holdfast</span> <span class="thin">API reference</span></a><a class="raw" href="/openapi.json">openapi.json</a></header>
<details class="menu"><summary>Contents</summary><nav aria-label="Contents">${menu}</nav></details>
<div class="layout">
<aside><nav aria-label="Contents">${menu}</nav></aside>
<main id="content">
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
