import type { Json } from "../../contract/json.ts";
import { codeSpan } from "./code-markup.ts";

/** Both sides of a changed field, for a cell of a table. */
export function changeText({ before, after }: { readonly before?: Json; readonly after?: Json }): string {
  return cellText(`${valueText(before)} → ${valueText(after)}`);
}

/** An untrusted text as a code span in a cell of a table. */
export function cellCode(text: string): string {
  return cellText(codeSpan(text));
}

/** A text of Markdown in a cell of a table: a bar would end the cell even in a code span. */
export function cellText(text: string): string {
  return text.replaceAll("|", "\\|");
}

function valueText(value: Json | undefined): string {
  return value === null || value === undefined
    ? "(none)"
    : codeSpan(typeof value === "string" ? value : JSON.stringify(value));
}
