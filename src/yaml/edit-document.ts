import type { JsonObject } from "../contract/json.ts";
import type { Format } from "./document.ts";
import { editYaml } from "./edit-yaml.ts";
import { splitDocuments } from "./split-documents.ts";

/** A document of a file, and its value before and after a change. */
export type DocumentChange = {
  /** The first line of its content, from 1. */
  readonly line: number;
  readonly before: JsonObject;
  readonly after: JsonObject;
};

/** The text of a file with one document changed in place; null where it cannot be. Nothing else of the text changes. */
export function editDocument(text: string, format: Format, { line, before, after }: DocumentChange): string | null {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  // With these line ends throughout, what is added has them too.
  const isWindows = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  const plain = (isWindows ? text.replaceAll("\r\n", "\n") : text).slice(mark.length);
  const chunks = format === "json" ? [{ text: plain, offset: 0 }] : splitDocuments(plain);
  const start = plain.split("\n", line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const chunk = chunks.findLast(({ offset }) => offset <= start);
  const edited = chunk === undefined ? null : editYaml(chunk.text, before, after);
  if (chunk === undefined || edited === null) return null;
  const whole = plain.slice(0, chunk.offset) + edited + plain.slice(chunk.offset + chunk.text.length);
  return mark + (isWindows ? whole.replaceAll("\n", "\r\n") : whole);
}
