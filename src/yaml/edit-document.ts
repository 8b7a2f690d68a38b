import type { JsonObject } from "../contract/json.ts";
import type { Format } from "./document.ts";
import { editYaml, valueIn } from "./edit-yaml.ts";
import { splitDocuments } from "./split-documents.ts";
import { textForm } from "./text-form.ts";

/** A document of a file, and its value before and after a change. */
export type DocumentChange = {
  /** The first line of its content, from 1. */
  readonly line: number;
  readonly before: JsonObject;
  readonly after: JsonObject;
};

/** The text of a file with one document changed in place; null where it cannot be. Nothing else of the text changes. */
export function editDocument(text: string, format: Format, { line, before, after }: DocumentChange): string | null {
  // What is added has the line ends of the file.
  const { plain, restore } = textForm(text);
  const chunk = chunkAt(plain, format, line);
  const edited = chunk === undefined ? null : editYaml(chunk.text, before, after);
  if (chunk === undefined || edited === null) return null;
  return restore(plain.slice(0, chunk.offset) + edited + plain.slice(chunk.offset + chunk.text.length));
}

/** The value of the document of a file whose content begins at a line; null where there is none. */
export function documentAt(text: string, format: Format, line: number): JsonObject | null {
  const chunk = chunkAt(textForm(text).plain, format, line);
  return chunk === undefined ? null : valueIn(chunk.text);
}

function chunkAt(plain: string, format: Format, line: number) {
  const chunks = format === "json" ? [{ text: plain, offset: 0 }] : splitDocuments(plain);
  const start = plain.split("\n", line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return chunks.findLast(({ offset }) => offset <= start);
}
