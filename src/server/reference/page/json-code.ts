import type { Json } from "../../../contract/json.ts";
import { type Html, html } from "../../../http/html.ts";

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON with syntax highlighting: keys, strings and other values have different classes. */
export function jsonCode(value: Json): Html {
  const text = JSON.stringify(value, null, 2);
  const pieces: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [token, quoted = "", colon = ""] = match;
    pieces.push(html`${text.slice(end, match.index)}`);
    if (colon !== "") pieces.push(html`<span class="k">${quoted}</span>${colon}`);
    else pieces.push(html`<span class="${quoted === "" ? "v" : "s"}">${token}</span>`);
    end = match.index + token.length;
  }
  return html`${pieces}${text.slice(end)}`;
}
