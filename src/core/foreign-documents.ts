import type { Diagnostic } from "./diagnostic.ts";

/** A diagnostic of a source; `foreign` where it says no more than that documents are not ours. */
export type SourceDiagnostic = Diagnostic & { readonly foreign?: ForeignDocuments };

/** Documents of one file that are not ours and name the same type, or all none. */
export type ForeignDocuments = { readonly type: string | null; readonly documents: number };

/** The documents of a source that are no manifests of ours. */
export type ForeignSummary = {
  readonly documents: number;
  /** How many documents name a type that is not managed, by type. */
  readonly types: ReadonlyMap<string, number>;
  readonly diagnostics: readonly Diagnostic[];
};

/** Counts the documents that are no manifests of ours, by type. */
export function summariseForeign(found: readonly SourceDiagnostic[]): ForeignSummary {
  const types = new Map<string, number>();
  let documents = 0;
  for (const { foreign } of found) {
    if (foreign === undefined) continue;
    documents += foreign.documents;
    if (foreign.type !== null) types.set(foreign.type, (types.get(foreign.type) ?? 0) + foreign.documents);
  }
  return { documents, types, diagnostics: found.map(({ foreign: _, ...diagnostic }) => diagnostic) };
}
