import { type Html, html } from "../../../http/html.ts";

/** A text with `code` in backticks. */
export function inlineCode(text: string): Html {
  const pieces = text.split("`").map((piece, at) => (at % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
  return html`${pieces}`;
}

/** A text whose paragraphs are separated by blank lines. */
export function paragraphs(text: string): Html {
  return html`${text.split("\n\n").map((paragraph) => html`<p>${inlineCode(withFullStop(paragraph))}</p>`)}`;
}

/** A text that ends with a full stop. */
export function withFullStop(text: string): string {
  return /[.:!?]$/.test(text) ? text : `${text}.`;
}
