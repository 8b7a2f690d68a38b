import type { Diagnostic } from "./diagnostic.ts";

/** What is in the source and not ours. */
export type PassedOver = {
  readonly documents: number;
  /** How many documents name a type that is not managed, by type. */
  readonly types: ReadonlyMap<string, number>;
  readonly diagnostics: readonly Diagnostic[];
};

/** What is said of a text that cannot be read and names no type of ours. */
export const PASSED_OVER = "Passed over: it names no type of ours. What is not ours can be listed in .holdfastignore.";

/** Whether a diagnostic says no more than that a document is not ours. */
export function isForeign({ severity, code, detail }: Diagnostic): boolean {
  if (severity !== "warning") return false;
  // A type that is almost one of ours is said to be one in the detail.
  if (code === "unknown-type") return detail === null;
  return code === "not-a-manifest" || code === "empty" || detail === PASSED_OVER;
}

/** What is not ours, counted. */
export function countPassedOver(diagnostics: readonly Diagnostic[]): PassedOver {
  const types = new Map<string, number>();
  let documents = 0;
  for (const { code, summary } of diagnostics) {
    const [, type = "other", many = "1"] = /^[^`]*(?:`([^`]*)`.*?)?(?: \((\d+) documents\))?$/.exec(summary) ?? [];
    documents += Number(many);
    if (code === "unknown-type") types.set(type, (types.get(type) ?? 0) + Number(many));
  }
  return { documents, types, diagnostics };
}
