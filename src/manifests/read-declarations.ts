import type { Clock } from "../clock/clock.ts";
import { isObject } from "../contract/json.ts";
import { manifestReferences } from "../core/manifest-references.ts";
import type { OtherDocuments, SourceDiagnostic } from "../core/other-documents.ts";
import { kindOf } from "../kinds/index.ts";
import { globMatcher } from "../model/glob.ts";
import { diagnosticInFile, fileDiagnostic, type Wording } from "../source/file-diagnostic.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import type { ParsedDocument, ParsedFile } from "../yaml/document.ts";
import { lineFinder, locator, type Position } from "../yaml/locator.ts";
import { type ExactProcess, readYaml } from "../yaml/read-yaml.ts";
import { checkAlone } from "./check-semantics.ts";
import { type Declaration, manifestDigest, nameOf, namingFieldsIn } from "./declaration.ts";
import { claimsFile, detectOversize, envelopeFault } from "./detect-file.ts";
import { type Detected, detectDocument, SKIPPED, unknownType } from "./detect-manifest.ts";
import type { DiagnosticList } from "./diagnostic-list.ts";
import { examineTransformed } from "./examine-transformed.ts";
import { type LocateField, placesIn, RereadableFile, readOptionsOf } from "./source-manifest.ts";
import { patchedManifest, placesOf, type Transform, type Transformed } from "./transform.ts";

/** What one file contributes. */
export type FileContent = {
  readonly declarations: readonly Declaration[];
  /** False if the file exceeded the time or memory of the exact reader, so that the next attempt may succeed. */
  readonly isFinal: boolean;
};

/** The rules for reading files. */
export type DeclareRules = {
  readonly limits: Limits;
  readonly unknownFields: "refuse" | "warn";
  /** Globs over paths that may hold values in a known credential format. */
  readonly allowLiteralSecrets: readonly string[];
  readonly transform: Transform;
  /** The time that dates in manifests are compared with. */
  readonly now: Date;
};

/** What reading a file needs. */
export type DeclareOptions = DeclareRules & {
  /** Reads what is not plain YAML. */
  readonly exact: ExactProcess;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Yields to the event loop between documents when it is due. */
  readonly pause: () => Promise<void> | undefined;
};

/** Receives the diagnostics. */
type Reporter = Pick<DiagnosticList, "add">;

/**
 * Reads the declarations of one file, and reports its faults. The result is synchronous if the fast reader suffices, so
 * that the text can be released at once; else it is a promise.
 */
export function readDeclarations(
  file: SourceFile,
  options: DeclareOptions,
  found: Reporter,
): FileContent | Promise<FileContent> {
  const bytes = file.bytes(options);
  return bytes instanceof Promise
    ? bytes.then((late) => declareBytes({ file, bytes: late, options, found }))
    : declareBytes({ file, bytes, options, found });
}

function declareBytes(input: FileInput<DeclareOptions>): FileContent | Promise<FileContent> {
  const { file, bytes, options, found } = input;
  const oversize = detectOversize(file, bytes, options.limits);
  if (oversize !== null) {
    if (oversize !== "report") found.add(tooLarge(file, oversize, options.limits));
    return { declarations: [], isFinal: true };
  }
  const envelope = envelopeFault(file, bytes);
  if (envelope !== null) {
    found.add(envelope);
    return { declarations: [], isFinal: true };
  }
  const parsed = readYaml(bytes, readOptionsOf(file, options.limits), options.exact);
  return parsed instanceof Promise ? declareExact(input, parsed) : declarePlain(input, parsed);
}

function declarePlain(input: FileInput<DeclareOptions>, parsed: ParsedFile): FileContent {
  const reader = readerOf(input, parsed);
  for (const [index, document] of parsed.documents.entries()) reader.read(document, index);
  return reader.content();
}

type FileInput<Options> = {
  readonly file: SourceFile;
  readonly bytes: Uint8Array;
  readonly options: Options;
  readonly found: Reporter;
};

// Files that need the exact reader take long here too.
async function declareExact(input: FileInput<DeclareOptions>, reading: Promise<ParsedFile>): Promise<FileContent> {
  const parsed = await reading;
  const reader = readerOf(input, parsed);
  for (const [index, document] of parsed.documents.entries()) {
    reader.read(document, index);
    const pausing = input.options.pause();
    if (pausing !== undefined) await pausing;
  }
  const content = reader.content();
  // A file that was too expensive for the thread may succeed the next time.
  return parsed.faults.length === 0 ? content : { ...content, isFinal: false };
}

type FileReader = {
  readonly read: (document: ParsedDocument, index: number) => void;
  readonly content: () => FileContent;
};

function readerOf({ file, bytes, options, found }: FileInput<DeclareRules>, parsed: ParsedFile): FileReader {
  const { text, faults, documents } = parsed;
  const rereadable = new RereadableFile(file, options.limits);
  let isAllowed: boolean | null = null;
  const allowsSecrets = (): boolean => {
    isAllowed ??= options.allowLiteralSecrets.some((glob) => globMatcher(glob)(file.path));
    return isAllowed;
  };
  const reader: Reader = {
    file,
    options,
    found,
    positionAt: lineFinder(text),
    otherDocuments: [],
    rereadable,
    allowsSecrets,
  };
  const declarations: Declaration[] = [];
  return {
    read: (document, index) => {
      const declaration = readDocument(reader, document, index);
      if (declaration !== null) declarations.push(declaration);
    },
    content: () => {
      if (faults.length > 0) return unread(file, bytes, parsed, found);
      if (documents.length === 0) {
        const empty = fileDiagnostic("warning", "empty", file.display, "an empty file: it declares nothing");
        found.add({ ...empty, otherDocuments: ONE_DOCUMENT });
      }
      for (const diagnostic of otherDiagnostics(reader)) found.add(diagnostic);
      return { declarations, isFinal: true };
    },
  };
}

const ONE_DOCUMENT: OtherDocuments = { type: null, documents: 1 };

type OtherDocument = Wording & {
  readonly position: Position;
  readonly type: string | null;
  /** Whether it gets its own warning. */
  readonly mayBeOurs: boolean;
  readonly hasOurType: boolean;
};

type Reader = {
  readonly file: SourceFile;
  readonly options: DeclareRules;
  readonly found: Reporter;
  readonly positionAt: (offset: number) => Position;
  /** The other documents of the file. */
  readonly otherDocuments: OtherDocument[];
  readonly rereadable: RereadableFile;
  /** Whether the file may hold values in a known credential format; the globs are matched once. */
  readonly allowsSecrets: () => boolean;
};

function tooLarge(file: SourceFile, is: "manifest" | "other", { fileBytes }: Limits): SourceDiagnostic {
  const summary = `larger than ${fileBytes} bytes, and not read`;
  if (is === "manifest") return fileDiagnostic("error", "too-large", file.display, summary, "Split the file.");
  return { ...fileDiagnostic("warning", "too-large", file.display, summary, SKIPPED), otherDocuments: ONE_DOCUMENT };
}

// A file that is not text, or has a fault as a whole.
function unread(file: SourceFile, bytes: Uint8Array, parsed: ParsedFile, found: Reporter): FileContent {
  const { text, faults } = parsed;
  const isOurs = claimsFile(bytes, parsed);
  const positionAt = lineFinder(text);
  for (const fault of faults) {
    const position = text === "" ? null : positionAt(fault.offset);
    const diagnostic = diagnosticInFile(file.display, isOurs ? fault : skippedWarning(fault), position);
    found.add(isOurs ? diagnostic : { ...diagnostic, otherDocuments: ONE_DOCUMENT });
  }
  return { declarations: [], isFinal: true };
}

function skippedWarning({ code, summary }: Wording): Wording {
  return { severity: "warning", code, summary, detail: SKIPPED };
}

function readDocument(reader: Reader, document: ParsedDocument, index: number): Declaration | null {
  const detected = detectDocument(document);
  switch (detected.is) {
    case "broken":
      return readBroken(reader, document, index);
    case "other":
      return noteOther(reader, document, detected);
    case "report":
      return null;
    case "faulty":
      return refuse(reader, document, detected);
    case "manifest": {
      const kind = kindOf(detected.type);
      if (kind !== undefined && isObject(document.value)) {
        const { type } = detected;
        const transformed = reader.options.transform.transformed(kind, type, document.value);
        return declareManifest(reader, document, { kind, type, transformed, index });
      }
      return noteOther(reader, document, unknownType(detected.type));
    }
  }
}

function noteOther(
  { otherDocuments, positionAt }: Reader,
  document: ParsedDocument,
  { code, summary, detail, type, mayBeOurs, hasOurType }: Omit<OtherDocument, "severity" | "position">,
): null {
  // Only a type that is or may be one of ours is worth locating: most other documents are not meant as manifests.
  const isLocated = (mayBeOurs || hasOurType) && type !== null;
  const position = isLocated ? locator(document, positionAt)("/type") : positionAt(document.offset);
  otherDocuments.push({ severity: "warning", code, summary, detail, type, mayBeOurs, hasOurType, position });
  return null;
}

function refuse(
  { file, found, positionAt }: Reader,
  document: ParsedDocument,
  detected: Detected & { is: "faulty" },
): null {
  const { key, summary, detail, code = "no-type" } = detected;
  const position = key === "" ? positionAt(document.offset) : locator(document, positionAt)(`/${key}`, "key");
  found.add(diagnosticInFile(file.display, { severity: "error", code, summary, detail }, position));
  return null;
}

// Ten other documents of one type in a file get one warning.
function otherDiagnostics({ file, otherDocuments }: Reader): readonly SourceDiagnostic[] {
  if (otherDocuments.length === 0) return [];
  return [...Map.groupBy(otherDocuments, ({ summary }) => summary).values()].flatMap((similar) => {
    const [first] = similar;
    if (first === undefined) return [];
    const one = diagnosticInFile(file.display, first, first.position);
    const diagnostic = similar.length === 1 ? one : { ...one, documents: similar.length };
    const { type, hasOurType } = first;
    const otherDocuments = { type, documents: similar.length, ...(hasOurType ? { hasOurType: true as const } : {}) };
    return [first.mayBeOurs ? diagnostic : { ...diagnostic, otherDocuments }];
  });
}

// A broken document keeps its name, so that manifests that refer to it are blocked, not reported as undeclared
// references.
function readBroken(reader: Reader, document: ParsedDocument, index: number): Declaration | null {
  const { file, found, positionAt, options } = reader;
  for (const fault of document.faults) found.add(diagnosticInFile(file.display, fault, positionAt(fault.offset)));
  const named = namingFieldsIn(document.chunk.text);
  const type = typeof named.type === "string" ? named.type : "";
  const kind = kindOf(type);
  if (kind === undefined) return null;
  const value = options.transform.manifestOf(kind, named);
  const position = positionAt(document.offset);
  const locate: LocateField = async () => ({ file: file.display, ...position });
  const { line } = position;
  const broken = { isValid: false, fields: null, references: [], checkedBy: null, digest: undefined };
  return { kind, type, ...nameOf(kind, type, value), value, file, index, line, locate, ...broken };
}

function declareManifest(
  reader: Reader,
  document: ParsedDocument,
  {
    kind,
    type,
    transformed,
    index,
  }: Pick<Declaration, "kind" | "type" | "index"> & { readonly transformed: Transformed },
): Declaration {
  const { file, found, positionAt, options, rereadable, allowsSecrets } = reader;
  const { transform, allowLiteralSecrets } = options;
  const { diagnostics, fields, isValid } = examineTransformed(
    { document, type, transformed },
    {
      locate: placesIn(file.display, locator(document, positionAt)),
      positionAt: (offset) => ({ file: file.display, ...positionAt(offset) }),
    },
    { unknownFields: options.unknownFields, allowsSecrets, allowLiteralSecrets },
  );
  for (const diagnostic of diagnostics) found.add(diagnostic);
  const { value, renamedBy } = transformed;
  const { line } = positionAt(document.offset);
  const { identity, key } = nameOf(kind, type, value);
  const patched = patchedManifest(transform, { kind, identity }, (reading) => rereadable.value(index, reading));
  // References in missing or faulty fields are unknown.
  const references = manifestReferences(isValid ? value : (fields ?? {}));
  const checkedBy = isValid ? checkAlone(type, value, options.now) : null;
  return {
    kind,
    type,
    identity,
    key,
    value,
    ...(isValid ? {} : { fields }),
    references,
    file,
    digest: manifestDigest(file, index, [transform.key, patched?.key]),
    index,
    line,
    // Located by rereading: the texts or field positions of all files would take most of the memory of a run.
    locate: rereadable.locate(index, line, placesOf(transform, { kind, type, identity })),
    ...(patched === null ? {} : { patched }),
    ...(renamedBy.length === 0 ? {} : { renamedBy }),
    isValid,
    checkedBy,
  };
}
