import { type Html, html } from "../../../http/html.ts";
import type { OpenApiDocument, ResponseObject } from "../../openapi/document-types.ts";
import { inlineCode, paragraphs, withFullStop } from "./paragraphs.ts";

/** A part of the page before the operations. */
export type PageSection = { readonly title: string; readonly body: Html };

/** The sections that apply to all operations. */
export function introduction(document: OpenApiDocument): readonly PageSection[] {
  return [
    { title: "Overview", body: paragraphs(document.info.description) },
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
    { title: "Errors", body: errors(document) },
  ];
}

function errors({ components: { responses } }: OpenApiDocument): Html {
  const rows = Object.values(responses).map(
    (response) =>
      html`<tr><th scope="row"><span class="status refused">${statusOf(response)}</span></th><td>${inlineCode(withFullStop(response.description))}</td></tr>`,
  );
  return html`${paragraphs(
    "Every error has one form: `statusCode`, a `message` for people, a `code` for programs and, for several errors, `details` with all of them. A `pointer` is relative to the manifest, or to the body when the body itself is malformed. `x-request-id` is the id of the request in the server's log.",
  )}<table><tbody>${rows}</tbody></table>`;
}

function statusOf({ content }: ResponseObject): string {
  const example = content?.["application/json"].example;
  return typeof example === "object" && example !== null && "statusCode" in example ? String(example.statusCode) : "";
}
