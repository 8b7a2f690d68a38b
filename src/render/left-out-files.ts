import type { ReadEvent } from "../core/report/events.ts";
import { count } from "./count-text.ts";
import { printable } from "./escape.ts";
import { wrapWords } from "./wrap.ts";

/** Maximum number of ignore files named; the rest is counted. */
const MAX_NAMED = 5;

type LeftOut = Pick<ReadEvent, "leftOut" | "isLeftOutMore">;

/** The number of files that ignore files leave out, in one line; empty when there are none. */
export function leftOutText({ leftOut, isLeftOutMore }: LeftOut, { width }: { readonly width: number }): string {
  if (leftOut.size === 0) return "";
  const sorted = [...leftOut].toSorted(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
  const files = sorted.reduce((sum, [, number]) => sum + number, 0);
  const rest = sorted.length - MAX_NAMED;
  const named = [
    ...sorted.slice(0, MAX_NAMED).map(([name, number]) => `${number} by ${printable(name)}`),
    ...(rest > 0 ? [`and by ${count(rest, "more ignore file")}`] : []),
  ];
  const text = `Ignored: ${isLeftOutMore ? "more than " : ""}${count(files, "file")} (${named.join(", ")})`;
  return wrapWords(text, { indent: "", width })
    .map((line) => `${line}\n`)
    .join("");
}
