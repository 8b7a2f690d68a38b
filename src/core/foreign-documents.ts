import type { Diagnostic } from "./diagnostic.ts";

/** A diagnostic of a source; it says how many documents it is about where it is about those that are not ours alone. */
export type SourceDiagnostic = Diagnostic & { readonly notOurs?: ForeignDocuments };

/** Documents of one file that are alike and not ours, and the type that they name; null where they name none. */
export type ForeignDocuments = { readonly type: string | null; readonly documents: number };

/** What is in the source and not ours. */
export type ForeignSummary = {
  readonly documents: number;
  /** How many documents name a type that is not managed, by type. */
  readonly types: ReadonlyMap<string, number>;
  readonly diagnostics: readonly Diagnostic[];
};

/** What is not ours, counted. */
export function summariseForeign(found: readonly SourceDiagnostic[]): ForeignSummary {
  const types = new Map<string, number>();
  let documents = 0;
  for (const { notOurs } of found) {
    if (notOurs === undefined) continue;
    documents += notOurs.documents;
    if (notOurs.type !== null) types.set(notOurs.type, (types.get(notOurs.type) ?? 0) + notOurs.documents);
  }
  return { documents, types, diagnostics: found.map(({ notOurs: _, ...diagnostic }) => diagnostic) };
}
