import type { Diagnostic } from "../core/diagnostic.ts";

/** More places are counted. */
const MAX_SHOWN = 10;

/** The other places of a diagnostic: `also at a.yaml:3, b.yaml:7 and 4 more`; empty when there are none. */
export function relatedText({ related = [] }: Diagnostic): string {
  if (related.length === 0) return "";
  const shown = related.slice(0, MAX_SHOWN).map(({ file, line }) => `${file}:${line}`);
  const rest = related.length - shown.length;
  return `also at ${shown.join(", ")}${rest === 0 ? "" : ` and ${rest} more`}`;
}
