import type { Diagnostic } from "./diagnostic.ts";

/** A diagnostic of a source. `otherDocuments` is set when it only reports documents that are not ours. */
export type SourceDiagnostic = Diagnostic & { readonly otherDocuments?: OtherDocuments };

/** Documents of one file that are not ours and share a type, or have none. */
export type OtherDocuments = {
  readonly type: string | null;
  readonly documents: number;
  /** Whether their type is managed, and yet they are another tool's. */
  readonly hasOurType?: true;
};

/** The documents of a source that are not our manifests. */
export type OtherSummary = {
  readonly documents: number;
  /** Number of documents per type that is not managed. */
  readonly types: ReadonlyMap<string, number>;
  /** Files with a document of a managed type that is another tool's. */
  readonly filesOfOurTypes: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
};

/** Counts the documents that are not our manifests, by type. */
export function summariseOtherDocuments(found: readonly SourceDiagnostic[]): OtherSummary {
  const types = new Map<string, number>();
  let documents = 0;
  for (const { otherDocuments } of found) {
    if (otherDocuments === undefined) continue;
    documents += otherDocuments.documents;
    if (otherDocuments.type !== null)
      types.set(otherDocuments.type, (types.get(otherDocuments.type) ?? 0) + otherDocuments.documents);
  }
  const files = new Set(
    found.flatMap(({ otherDocuments, file }) => (otherDocuments?.hasOurType && file !== null ? [file] : [])),
  );
  return {
    documents,
    types,
    filesOfOurTypes: [...files],
    diagnostics: found.map(({ otherDocuments: _, ...diagnostic }) => diagnostic),
  };
}
