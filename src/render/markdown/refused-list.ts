import { codeSpan } from "./code-markup.ts";
import { fittingRows } from "./fit-markdown.ts";

/** How much of a list is shown, and where the whole of it is. */
type Extent = { readonly rows: number; readonly characters: number; readonly whole: string };

/** What a pull request leaves out, below a heading; empty if that is nothing. */
export function refusedList(
  refused: readonly { readonly identity: string; readonly detail: string }[],
  heading: string,
  { rows: most, characters, whole }: Extent,
): string {
  if (refused.length === 0) return "";
  const rows = refused.slice(0, most).map(({ identity, detail }) => `- ${codeSpan(identity)}: ${codeSpan(detail)}`);
  const shown = fittingRows(rows, characters);
  const left = refused.length - shown.length;
  return [heading, "", ...shown, ...(left === 0 ? [] : [`- and ${left} more. ${whole}`])].join("\n");
}
