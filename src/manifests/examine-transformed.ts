import { leafPointers } from "../contract/json-pointer.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { originAt } from "../core/patch/origin.ts";
import { globMatcher } from "../model/glob.ts";
import { diagnosticInFile } from "../source/file-diagnostic.ts";
import type { ParsedDocument } from "../yaml/document.ts";
import type { Respelling } from "../yaml/respelling.ts";
import {
  type Examined,
  type ExamineOptions,
  examineManifest,
  type Locating,
  type PositionedFault,
} from "./examine-manifest.ts";
import type { PatchDocument } from "./read-patches.ts";
import type { FieldPlace } from "./source-manifest.ts";
import { placesThrough, type Transformed } from "./transform.ts";

type Examination = {
  readonly document: ParsedDocument;
  readonly type: string;
  readonly transformed: Transformed;
};

type Options = ExamineOptions & { readonly allowLiteralSecrets: readonly string[] };

/** The faults of a manifest by itself, each where it stands, and its fields that can be checked against other manifests. */
export function examineTransformed(
  { document, type, transformed }: Examination,
  at: Locating,
  options: Options,
): Pick<Examined, "fields"> & { readonly diagnostics: readonly Diagnostic[]; readonly isValid: boolean } {
  const { patches, value, unpatched } = transformed;
  const [last] = patches.toReversed();
  if (last === undefined) {
    const { faults, fields } = examineManifest(document, type, value, at, options);
    const diagnostics = faults.map(diagnosticOf);
    return { diagnostics, fields, isValid: faults.every(isWarning) };
  }
  const whole = patchedDocument(document, transformed);
  const places = { ...at, locate: placesThrough(transformed, at.locate) };
  const allowsSecrets = (): boolean => options.allowsSecrets() && patches.every((patch) => isAllowed(patch, options));
  const { faults, fields } = examineManifest(whole, type, value, places, { ...options, allowsSecrets });
  const start = at.positionAt(document.offset);
  let own: readonly PositionedFault[] | null = null;
  const isOwn = (fault: PositionedFault): boolean => {
    own ??= examineManifest(document, type, unpatched, at, options).faults;
    return own.some(({ code, summary }) => code === fault.code && summary === fault.summary);
  };
  const diagnostics = faults.flatMap((fault): readonly Diagnostic[] => {
    if (fault.code === "literal-credential" && allowedAt(fault, start, patches, options)) return [];
    if (fault.position.file !== start.file) return [withManifest(diagnosticOf(fault), start)];
    if (isWarning(fault) || isOwn(fault)) return [diagnosticOf(fault)];
    return [withManifest(diagnosticOf({ ...fault, position: last.locate("/patch", "key") }), start)];
  });
  const merging = transformed.faults.map(({ patch, pointer, code, summary, detail }) => {
    const position = patch.locate(pointer, "key");
    return withManifest(diagnosticOf({ severity: "error", code, summary, detail, position }), start);
  });
  const all = [...diagnostics, ...merging];
  const isRead = patches.every(({ patch }) => patch !== null);
  return { diagnostics: all, fields, isValid: isRead && all.every(isWarning) };
}

function isWarning({ severity }: { readonly severity: Diagnostic["severity"] }): boolean {
  return severity === "warning";
}

function diagnosticOf({ position, ...wording }: PositionedFault): Diagnostic {
  return diagnosticInFile(position.file, wording, position);
}

function withManifest(diagnostic: Diagnostic, { file, line, column }: FieldPlace): Diagnostic {
  return { ...diagnostic, related: [{ file, line, column }] };
}

function isAllowed({ file }: PatchDocument, { allowLiteralSecrets }: Options): boolean {
  return allowLiteralSecrets.some((glob) => globMatcher(glob)(file.path));
}

// Where only some of the files may hold credentials, each of them is judged by its own file.
function allowedAt(
  { position }: PositionedFault,
  { file }: FieldPlace,
  patches: readonly PatchDocument[],
  options: Options,
): boolean {
  if (position.file === file) return options.allowsSecrets();
  return patches.some((patch) => patch.file.display === position.file && isAllowed(patch, options));
}

// What is checked in the text of a document is checked in those of its patches too.
function patchedDocument(document: ParsedDocument, transformed: Transformed): ParsedDocument {
  const documents = [document, ...transformed.patches.map((patch) => patch.document)];
  const text = documents.map(({ chunk }) => chunk.text).join("\n");
  return {
    ...document,
    chunk: { ...document.chunk, text },
    hasCredentials: documents.some(({ hasCredentials }) => hasCredentials),
    respellings: () => respellingsThrough(documents, transformed),
  };
}

function respellingsThrough(
  documents: readonly ParsedDocument[],
  { value, origin }: Transformed,
): readonly Respelling[] {
  const found = documents.flatMap((document, from) =>
    document.respellings().map(({ pointer, written }) => [`${from} ${pointer}`, written] as const),
  );
  if (found.length === 0) return [];
  const written = new Map(found);
  return leafPointers(value).flatMap((pointer) => {
    const { from, pointer: place } = originAt(origin, pointer);
    const text = written.get(`${from} ${place}`);
    return text === undefined ? [] : [{ pointer, written: text }];
  });
}
