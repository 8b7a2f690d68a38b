import { compareText } from "../contract/json.ts";
import type { Diagnostic } from "./diagnostic.ts";
import type { Identity, ManifestHead } from "./manifest.ts";

/** A manifest that is refused, with the first of its errors. */
export type InvalidManifest = {
  /** Empty if the manifest does not say what it declares. */
  readonly identity: Identity;
  /** Empty if it is not known. */
  readonly kind: string;
  readonly file: string;
  /** The line of its first error, or of its beginning; null if the file as a whole cannot be read. */
  readonly line: number | null;
  readonly code: string;
  readonly message: string;
};

/** A document that declares a resource, and the line at which it begins. */
export type DeclaredAt = Pick<ManifestHead, "identity" | "kind" | "file"> & {
  readonly line: number;
  readonly isRefused: boolean;
};

/**
 * The invalid manifests of a source: its refused documents, and what has errors and declares nothing that is known, such as
 * a file that cannot be read.
 */
export function invalidManifests(
  declared: readonly DeclaredAt[],
  diagnostics: readonly Diagnostic[],
): readonly InvalidManifest[] {
  const errors = diagnostics.flatMap(atEachPlace).filter(isLocatedError);
  const files = new Set([...declared.filter(({ isRefused }) => isRefused), ...errors].map(({ file }) => file));
  if (files.size === 0) return [];
  const [documents, faults] = [declared.filter(({ file }) => files.has(file)), errors];
  const [documentsIn, faultsIn] = [Map.groupBy(documents, ({ file }) => file), Map.groupBy(faults, ({ file }) => file)];
  return [...files]
    .toSorted(compareText)
    .flatMap((file) => invalidInFile(file, documentsIn.get(file) ?? [], faultsIn.get(file) ?? []));
}

type LocatedError = Diagnostic & { readonly file: string };

// One diagnostic about several manifests is the error of each of them.
function atEachPlace(diagnostic: Diagnostic): readonly Diagnostic[] {
  const { related = [] } = diagnostic;
  return related.length === 0 ? [diagnostic] : [diagnostic, ...related.map((place) => ({ ...diagnostic, ...place }))];
}

function isLocatedError(diagnostic: Diagnostic): diagnostic is LocatedError {
  return diagnostic.severity === "error" && diagnostic.file !== null;
}

function invalidInFile(
  file: string,
  unordered: readonly DeclaredAt[],
  errors: readonly LocatedError[],
): readonly InvalidManifest[] {
  const documents = unordered.toSorted((a, b) => a.line - b.line);
  const byDocument = Map.groupBy(errors, (error) => documentOf(error, documents));
  const refused = documents
    .filter(({ isRefused }) => isRefused)
    .map((document) => invalidDocument(document, byDocument.get(document) ?? []));
  return [...refused, ...undeclared(file, byDocument.get(null) ?? [])].toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0),
  );
}

// Only a refused document has errors, and one that names no kind is a document of its own.
function documentOf({ code, line }: LocatedError, documents: readonly DeclaredAt[]): DeclaredAt | null {
  if (line === null || code === NO_KIND) return null;
  const document = documents.findLast((one) => one.line <= line);
  return document?.isRefused ? document : null;
}

const NO_KIND = "no-type";
const ERROR_ELSEWHERE = "its error is reported at another manifest or a patch; holdfast validate lists all";

function invalidDocument({ identity, kind, file, line }: DeclaredAt, errors: readonly LocatedError[]): InvalidManifest {
  const [first] = errors.toSorted(byLine);
  // Such as the second manifest of a cycle of references.
  if (first === undefined) return { identity, kind, file, line, code: "invalid", message: ERROR_ELSEWHERE };
  return { identity, kind, file, line: first.line ?? line, code: first.code, message: first.summary };
}

// The errors of a file that cannot be read belong to one manifest.
function undeclared(file: string, errors: readonly LocatedError[]): readonly InvalidManifest[] {
  const nameless = errors.filter(({ code }) => code === NO_KIND);
  const [first] = errors.filter(({ code }) => code !== NO_KIND).toSorted(byLine);
  return [...nameless, ...(first === undefined ? [] : [first])].map(({ line, code, summary }) => {
    return { identity: "", kind: "", file, line, code, message: summary };
  });
}

function byLine(a: Diagnostic, b: Diagnostic): number {
  return (a.line ?? 0) - (b.line ?? 0);
}
