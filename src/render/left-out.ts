import { summaryText } from "../core/diagnostic.ts";
import type { OtherSummary } from "../core/other-documents.ts";
import type { ReadEvent } from "../core/report/events.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { wrapWords } from "./wrap.ts";

/** Maximum number of types named; the rest is counted. */
const MAX_TYPES = 8;

/** Maximum number of files named; the rest is counted. */
const MAX_FILES = 5;

/** The number of files that ignore files leave out, in one line; empty when there are none. */
export function leftOutText(
  { leftOut, isLeftOutMore }: Pick<ReadEvent, "leftOut" | "isLeftOutMore">,
  { width }: { readonly width: number },
): string {
  if (leftOut.size === 0) return "";
  const sorted = [...leftOut].toSorted(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
  const files = sorted.reduce((sum, [, number]) => sum + number, 0);
  const rest = sorted.length - MAX_FILES;
  const named = [
    ...sorted.slice(0, MAX_FILES).map(([name, number]) => `${number} by ${printable(name)}`),
    ...(rest > 0 ? [`and by ${count(rest, "more ignore file")}`] : []),
  ];
  const text = `Ignored: ${isLeftOutMore ? "more than " : ""}${count(files, "file")} (${named.join(", ")})`;
  return wrapWords(text, { indent: "", width })
    .map((line) => `${line}\n`)
    .join("");
}

/** The number of documents that are not ours, in one sentence, or a list of them; empty when there are none. */
export function otherDocumentsText(
  { documents, types, filesOfOurTypes, diagnostics }: OtherSummary,
  { width, lists }: { readonly width: number; readonly lists: boolean },
): string {
  if (documents === 0) return "";
  const each = diagnostics.map((one) => `  ${printable(`${one.file ?? ""}:${one.line ?? 1}: ${summaryText(one)}`)}\n`);
  const hint = lists ? "" : "; --show unmanaged lists them";
  const lines = [`${countsText(documents, types)}${hint}`, ...namedText(filesOfOurTypes)].flatMap((line) =>
    wrapWords(line, { indent: "", width }),
  );
  return [...(lists ? each : []), ...lines.map((line) => `${line}\n`)].join("");
}

function namedText(files: readonly string[]): readonly string[] {
  if (files.length === 0) return [];
  const rest = files.length - MAX_FILES;
  const named =
    files.slice(0, MAX_FILES).map(printable).join(", ") + (rest > 0 ? ` and ${count(rest, "more file")}` : "");
  return [`Not ours, though of a type of ours: ${named}`];
}

function countsText(documents: number, types: OtherSummary["types"]): string {
  const typed = [...types.values()].reduce((sum, number) => sum + number, 0);
  const sorted = [...types].toSorted(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
  const rest = sorted.length - MAX_TYPES;
  const named = [
    ...(documents > typed ? [`${documents - typed} without a type`] : []),
    ...sorted.slice(0, MAX_TYPES).map(([type, number]) => `${number} of type ${printable(type)}`),
    ...(rest > 0 ? [`and of ${count(rest, "more type")}`] : []),
  ];
  return `Not ours: ${count(documents, "document")} (${named.join(", ")})`;
}
