import type { Schema } from "../../../src/server/openapi/json-schema.ts";
import type {
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  ResponseObject,
} from "../openapi/document-types.ts";
import { refName } from "../openapi/read-schema.ts";
import { fieldList, fieldRow } from "./field-list.ts";
import { type Html, html } from "./html.ts";
import { inlineCode, jsonCode, paragraphs, typeWords } from "./markup.ts";
import { requestExamples } from "./request-examples.ts";

/** An operation with its path and method. */
export type PathOperation = { readonly method: string; readonly path: string; readonly operation: OperationObject };

/** The section of one operation: description and parameters on one side, an example on the other. */
export function operationSection(document: OpenApiDocument, one: PathOperation): Html {
  const { method, path, operation } = one;
  const { operationId, summary, description } = operation;
  return html`<section class="operation" id="${operationId}">
<div class="words">
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="route">${methodBadge(method)} <code>${pathWords(path)}</code></p>
${paragraphs(description)}
${parameterLists(document, operation)}${bodyList(document, operation)}${replyList(document, operation)}
<p class="facts">${facts(operation)}</p>
</div>
<div class="code">${requestPane(one)}${replyPane(operation)}</div>
</section>
`;
}

/** The method of an operation as a badge. */
export function methodBadge(method: string): Html {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function pathWords(path: string): Html {
  const pieces = path
    .split(/(\{\w+\})/)
    .map((piece) => (piece.startsWith("{") ? html`<b>${piece}</b>` : html`${piece}`));
  return html`${pieces}`;
}

function parameterLists(document: OpenApiDocument, { parameters = [] }: OperationObject): readonly Html[] {
  const all = parameters.map((one) => parameter(document, one));
  const places = [
    ["path", "Path"],
    ["query", "Query"],
    ["header", "Headers"],
  ] as const;
  return places.flatMap(([place, title]) => {
    const rows = all.filter((one) => one?.in === place);
    const { schemas } = document.components;
    const list = rows.flatMap((one) =>
      one === undefined
        ? []
        : [fieldRow(schemas, one.name, { ...one.schema, description: one.description }, one.required === true)],
    );
    if (list.length === 0) return [];
    // Every write takes the same headers.
    if (place === "header")
      return [html`<details class="aside"><summary>${title}</summary><ul class="fields">${list}</ul></details>`];
    return [html`<h4>${title}</h4><ul class="fields">${list}</ul>`];
  });
}

function parameter(document: OpenApiDocument, one: ParameterObject | ReferenceObject): ParameterObject | undefined {
  return "$ref" in one ? document.components.parameters[lastStep(one.$ref)] : one;
}

function bodyList({ components: { schemas } }: OpenApiDocument, { requestBody }: OperationObject): Html | null {
  if (requestBody === undefined) return null;
  return html`<h4>Body</h4>${fieldList(schemas, requestBody.content["application/json"].schema)}`;
}

function replyList(document: OpenApiDocument, { responses }: OperationObject): Html {
  const refused = Object.entries(responses).flatMap(([status, response]) =>
    "$ref" in response ? [refusalChip(document, status, response)] : [],
  );
  const reply = responses["200"];
  return html`<h4>Replies</h4><ul class="replies"><li><span class="status ok">200</span> ${
    reply === undefined || "$ref" in reply ? null : replyWords(document, reply)
  }</li>${refused}</ul>`;
}

function replyWords({ components: { schemas } }: OpenApiDocument, { content, description }: ResponseObject): Html {
  const schema: Schema = content?.["application/json"].schema ?? {};
  if (schema.$ref !== undefined) return typeWords(schemas, schema);
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return html`<code>{}</code> ${description}`;
  const words = members.map(
    ([name, member], at) => html`${at === 0 ? "" : ", "}<code>${name}</code> ${typeWords(schemas, member)}`,
  );
  return html`${words}`;
}

function refusalChip({ components }: OpenApiDocument, status: string, { $ref }: ReferenceObject): Html {
  const { description = "" } = components.responses[lastStep($ref)] ?? {};
  return html`<li><a class="status refused" href="#status-${status}" title="${description}">${status}</a></li>`;
}

const retryWords: { readonly [retry: string]: string } = {
  read: "Reads only; repeat it freely.",
  repeat: "Repeating the same call is harmless.",
  version: "Each call may create a version: when the outcome is unknown, read the resource before you repeat it.",
  once: "Repeat it only with the same `Idempotency-Key`.",
  token: "The reply may carry a one-time token: repeat it only with the same `Idempotency-Key`.",
};

function facts({ operationId, "x-number": number, "x-retry": retry }: OperationObject): Html {
  const kind = number.startsWith("E") ? "Extension" : "Operation";
  return html`${kind} ${number} · <code>${operationId}</code> · ${inlineCode(retryWords[retry] ?? "")}`;
}

function replyPane({ responses }: OperationObject): Html | null {
  const reply = responses["200"];
  if (reply === undefined || "$ref" in reply) return null;
  const example = reply.content?.["application/json"].example;
  return example === undefined ? null : codePane("Reply", jsonCode(example));
}

// The script of the page lets a reader choose the language; without it, the first is shown.
function requestPane(one: PathOperation): Html {
  const codes = requestExamples(one).map(
    ({ language, code }) => html`<pre tabindex="0" data-language="${language}"><code>${code}</code></pre>`,
  );
  return html`<figure class="request"><figcaption>Request</figcaption>${codes}</figure>`;
}

function codePane(title: string, code: Html): Html {
  return html`<figure><figcaption>${title}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>`;
}

function lastStep(ref: string): string {
  return refName(ref).split("/").at(-1) ?? "";
}
