import { equal, isObject, type Json, own } from "../contract/json.ts";
import { type Rename, renameBetween, renameFqns } from "../model/rename-fqns.ts";
import type { Format } from "../yaml/document.ts";
import { type DocumentChange, documentAt } from "../yaml/edit-document.ts";

/**
 * The change to the document that declares a manifest, with the names that documents have for clusters and workspaces; null
 * where the document cannot be read.
 */
export function documentChange(
  { text, format }: { readonly text: string; readonly format: Format },
  { line, before, after }: DocumentChange,
  rename: Rename | null,
): DocumentChange | null {
  if (rename === null) return { line, before, after };
  const document = documentAt(text, format, line);
  if (document === null) return null;
  const { value } = renameFqns(after, renameBetween(rename, {}));
  const changed = asWritten(document, [before, after], value);
  return isObject(changed) ? { line, before: document, after: changed } : null;
}

// What does not change stays as the document has it, also where it lacks it.
function asWritten(
  written: Json | undefined,
  [before, after]: readonly [Json | undefined, Json | undefined],
  renamed: Json | undefined,
): Json | undefined {
  if (equal(before, after)) return written;
  if (Array.isArray(written) && Array.isArray(before) && Array.isArray(after) && Array.isArray(renamed)) {
    const isAligned = written.length === before.length && before.length === after.length;
    if (isAligned) return after.map((item, at) => asWritten(written[at], [before[at], item], renamed[at]) ?? null);
  }
  if (!isObject(written) || !isObject(before) || !isObject(after) || !isObject(renamed)) return renamed;
  // A document has fields that no manifest has, such as `$schema`.
  const names = [...Object.keys(written).filter((name) => !Object.hasOwn(before, name)), ...Object.keys(after)];
  const fields = [...new Set(names)].map((name): readonly [string, Json | undefined] => {
    return [name, asWritten(own(written, name), [own(before, name), own(after, name)], own(renamed, name))];
  });
  return Object.fromEntries(fields.filter((field): field is [string, Json] => field[1] !== undefined));
}
