import type { NotUsed } from "../core/not-used.ts";
import type { Paint } from "./paint.ts";

/** The extensions that a control plane lacks, and what that costs; nothing where it lacks none. */
export function notUsedText(missing: readonly NotUsed[], paint: Paint): readonly string[] {
  if (missing.length === 0) return [];
  const title = paint("bold", "Not used: extensions that this control plane does not have");
  const lines = missing.map(({ extension, operation, cost }) => `  ${extension} ${operation}: ${paint("dim", cost)}`);
  return [[title, ...lines, ""].join("\n")];
}
