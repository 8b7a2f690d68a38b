import { type Html, html } from "../../../http/html.ts";
import type { OpenApiDocument, ResponseObject } from "../../openapi/document-types.ts";
import { inlineCode, paragraphs, withFullStop } from "./paragraphs.ts";

/** A part of the page before the operations. */
export type PageSection = { readonly title: string; readonly body: Html };

/** The sections that hold for all operations. */
export function introduction(document: OpenApiDocument): readonly PageSection[] {
  return [
    { title: "Overview", body: paragraphs(document.info.description) },
    {
      title: "Authentication",
      body: html`${paragraphs(
        "Every operation takes `Authorization: Bearer <token>`. The server writes the administrator's token to `admin-token` in its data folder when it first starts; with it, make virtual accounts for machines and personal access tokens for people.",
      )}<figure><figcaption>Shell</figcaption><pre tabindex="0"><code>export HOLDFAST_URL=http://127.0.0.1:7071
export HOLDFAST_TOKEN=$(cat .holdfast/control-plane/admin-token)</code></pre></figure>`,
    },
    {
      title: "Lists",
      body: paragraphs(
        "A list answers `data` and `pagination` with `total`, `offset` and `limit`. Ask for up to 1,000 rows at a time (`limit`, by default 100), starting anywhere (`offset`). Rows come newest first, addons by name. Filters match exactly, never as patterns; parameters that an operation does not know are passed over. Past the end `data` is empty.",
      ),
    },
    {
      title: "Dry runs",
      body: paragraphs(
        "With `dryRun: true` a write is checked in full, changes nothing, and answers what it would have answered: the ids and times of what exists are real, and what would be new has no id yet. No token is made.",
      ),
    },
    {
      title: "Safe retries",
      body: paragraphs(
        "A write with an `Idempotency-Key` is made once, however often it arrives within 24 hours: the first reply is answered again, a one-time token included. `Idempotency-Key-Accepted: true` in a reply says that the server honours keys.\n\n`X-Fencing-Token` keeps late writers out: a write whose number is lower than the highest seen in its `X-Fencing-Scope` is refused with 412.",
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
    "Every refusal has one form: `statusCode`, a `message` for people, a `code` for programs and, where several things are wrong, `details` with all of them. A `pointer` is relative to the manifest, or to the body when its own form is wrong. `x-request-id` names the request as the server's log does.",
  )}<table><tbody>${rows}</tbody></table>`;
}

function statusOf({ content }: ResponseObject): string {
  const example = content?.["application/json"].example;
  return typeof example === "object" && example !== null && "statusCode" in example ? String(example.statusCode) : "";
}
