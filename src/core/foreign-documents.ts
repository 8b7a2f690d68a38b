import type { Diagnostic } from "./diagnostic.ts";

/** A diagnostic of a source. `foreign` is set when it only reports documents that are not ours. */
export type SourceDiagnostic = Diagnostic & { readonly foreign?: ForeignDocuments };

/** Documents of one file that are not ours and share a type, or have none. */
export type ForeignDocuments = {
  readonly type: string | null;
  readonly documents: number;
  /** Whether their type is managed, and yet they are another tool's. */
  readonly hasOurType?: true;
};

/** The documents of a source that are not our manifests. */
export type ForeignSummary = {
  readonly documents: number;
  /** Number of documents per type that is not managed. */
  readonly types: ReadonlyMap<string, number>;
  /** Files with a document of a managed type that is another tool's. */
  readonly filesOfOurTypes: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Counts the documents that are not our manifests, by type. */
export function summariseForeign(found: readonly SourceDiagnostic[]): ForeignSummary {
  const types = new Map<string, number>();
  let documents = 0;
  for (const { foreign } of found) {
    if (foreign === undefined) continue;
    documents += foreign.documents;
    if (foreign.type !== null) types.set(foreign.type, (types.get(foreign.type) ?? 0) + foreign.documents);
  }
  const files = new Set(found.flatMap(({ foreign, file }) => (foreign?.hasOurType && file !== null ? [file] : [])));
  return {
    documents,
    types,
    filesOfOurTypes: [...files],
    diagnostics: found.map(({ foreign: _, ...diagnostic }) => diagnostic),
  };
}
