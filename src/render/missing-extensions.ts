import type { MissingExtension } from "../core/missing-extensions.ts";
import type { Paint } from "./paint.ts";
import { wrapWords } from "./wrap.ts";

/** The extensions that a control plane lacks, and the consequences; empty when it lacks none. */
export function missingExtensionsText(
  missing: readonly MissingExtension[],
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  if (missing.length === 0) return [];
  const title = wrapWords("Not used: extensions that this control plane does not have", { indent: "", width });
  const lines = missing.flatMap(({ extension, operation, cost }) => {
    const words = [...`${extension} ${operation}:`.split(" "), ...cost.split(" ").map((word) => paint("dim", word))];
    return wrapWords(words, { indent: "  ", nextIndent: "    ", width });
  });
  return [[...title.map((line) => paint("bold", line)), ...lines, ""].join("\n")];
}
