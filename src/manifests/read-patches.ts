import { createHash } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../contract/json.ts";
import { escapePointer } from "../contract/json-pointer.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Identity } from "../core/manifest.ts";
import { type Glob, globMatcher, hasWildcard } from "../model/glob.ts";
import { diagnosticInFile, fileDiagnostic, type Wording } from "../source/file-diagnostic.ts";
import type { Limits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import type { ParsedDocument, ParsedFile } from "../yaml/document.ts";
import { quoted } from "../yaml/fault.ts";
import { lineFinder, locator } from "../yaml/locator.ts";
import { readYaml } from "../yaml/read-yaml.ts";
import { envelopeFault } from "./detect-file.ts";
import { type LocatePlace, placesIn, type Rereading, readOptionsOf } from "./source-manifest.ts";

/** One document of a patch file. */
export type PatchDocument = {
  readonly match: Glob;
  /** The merge patch; null if the document has a fault, so that what it matches is refused. */
  readonly patch: JsonObject | null;
  readonly file: SourceFile;
  /** Changes with the file. */
  readonly key: string;
  readonly document: ParsedDocument;
  readonly locate: LocatePlace;
};

/** A patch file, and its faults. */
export type PatchFile = { readonly file: SourceFile; readonly diagnostics: readonly Diagnostic[] };

/** The patches of a revision. */
export type PatchSet = {
  readonly files: readonly PatchFile[];
  /** Changes with any of them; empty if there are none. */
  readonly key: string;
  /** In the order of file paths and documents. */
  readonly all: readonly PatchDocument[];
  /** Those that match a resource. */
  readonly of: (identity: Identity) => readonly PatchDocument[];
  /** What a manifest depends on besides its document; empty if no patch matches. */
  readonly keyOf: (identity: Identity) => string;
  /** Whether a document does not say what it matches, so that no manifest is known. */
  readonly isBroken: boolean;
};

/** The patches of a source that has none. */
export const NO_PATCHES: PatchSet = {
  files: [],
  key: "",
  all: [],
  of: () => [],
  keyOf: () => "",
  isBroken: false,
};

/** Reads the patch files of a revision. */
export async function readPatches(
  files: readonly SourceFile[],
  { limits, ...reading }: Rereading & { readonly limits: Limits },
): Promise<PatchSet> {
  if (files.length === 0) return NO_PATCHES;
  const read: ReadPatchFile[] = [];
  for (const file of files) read.push(await readPatchFile(file, limits, reading));
  const all = read.flatMap(({ patches }) => patches);
  const of = patchFinder(all);
  return {
    files: read,
    key: all.map(({ key }) => key).join("\n"),
    all,
    of,
    keyOf: (identity) => {
      const keys = of(identity).map(({ key }) => key);
      return keys.length === 0 ? "" : digestOf(keys.join("\n"));
    },
    isBroken: read.some(({ isBroken }) => isBroken),
  };
}

type ReadPatchFile = PatchFile & { readonly patches: readonly PatchDocument[]; readonly isBroken: boolean };

async function readPatchFile(file: SourceFile, limits: Limits, reading: Rereading): Promise<ReadPatchFile> {
  const failed = (...diagnostics: readonly Diagnostic[]) => ({ file, diagnostics, patches: [], isBroken: true });
  if (file.size > limits.fileBytes)
    return failed(
      fileDiagnostic(
        "error",
        "too-large",
        file.display,
        `larger than ${limits.fileBytes} bytes, and not read`,
        "Split the file.",
      ),
    );
  const bytes = await file.bytes(reading);
  const envelope = envelopeFault(file, bytes);
  if (envelope !== null) return failed(envelope);
  const parsed = await readYaml(bytes, { ...readOptionsOf(file, limits), worthy: null }, reading.exact);
  const positionAt = lineFinder(parsed.text);
  if (parsed.faults.length > 0)
    return failed(
      ...parsed.faults.map((one) =>
        diagnosticInFile(file.display, { ...one, severity: "error" }, positionAt(one.offset)),
      ),
    );
  const diagnostics: Diagnostic[] = [];
  const documents = parsed.documents.flatMap((document, index) =>
    isEmpty(document)
      ? []
      : [readPatch({ file, document, index, digest: digestIn(file, parsed) }, positionAt, diagnostics)],
  );
  const patches = documents.filter((one) => one !== null);
  return { file, diagnostics, patches, isBroken: patches.length < documents.length };
}

// Such as what follows a `---` at the end of a file.
function isEmpty({ value, faults }: ParsedDocument): boolean {
  return value === null && faults.length === 0;
}

type At = {
  readonly file: SourceFile;
  readonly document: ParsedDocument;
  readonly index: number;
  readonly digest: string;
};

// Null if it does not say what it matches.
function readPatch(
  { file, document, index, digest }: At,
  positionAt: ReturnType<typeof lineFinder>,
  found: Diagnostic[],
): PatchDocument | null {
  const locate = placesIn(file.display, locator(document, positionAt));
  for (const fault of document.faults) found.push(diagnosticInFile(file.display, fault, positionAt(fault.offset)));
  const isRead = document.faults.every(({ severity }) => severity === "warning");
  const { value } = document;
  const faults = isRead ? faultsOf(value) : [];
  for (const { pointer, at, ...wording } of faults) {
    const place = locate(pointer, at);
    found.push(diagnosticInFile(place.file, wording, place));
  }
  const { match = null, patch = null } = isObject(value) ? value : {};
  if (typeof match !== "string" || match === "") return null;
  const isUsable = isRead && faults.length === 0 && isObject(patch);
  const key = `${file.path} ${digest} ${index}`;
  return { match, patch: isUsable ? patch : null, file, key, document, locate };
}

type Fault = Wording & { readonly pointer: string; readonly at: "key" | "value" };

const FORM = "A patch file holds documents `{ match: IDENTITY, patch: { … } }`.";

function faultsOf(value: Json): readonly Fault[] {
  if (!isObject(value) || (value.match === undefined && value.patch === undefined))
    return [fault("", "not-a-patch", "a document that is no patch")];
  const unknown = Object.keys(value).filter((name) => !["match", "patch", "$schema"].includes(name));
  const { match, patch } = value;
  return [
    ...unknown.map((name) =>
      fault(`/${escapePointer(name)}`, "unknown-field", `unknown field ${quoted(name)} in a patch`, "key"),
    ),
    ...(match === undefined ? [fault("", "missing-field", "`match` is missing")] : []),
    ...(match !== undefined && (typeof match !== "string" || match === "")
      ? [fault("/match", "wrong-type", "`match` is not a pattern for identities")]
      : []),
    ...(patch === undefined ? [fault("", "missing-field", "`patch` is missing")] : []),
    ...(patch !== undefined && !isObject(patch) ? [fault("/patch", "wrong-type", "`patch` is not an object")] : []),
  ];
}

function fault(pointer: string, code: string, summary: string, at: Fault["at"] = "value"): Fault {
  return { severity: "error", code, summary, detail: FORM, pointer, at };
}

function digestIn({ digest }: SourceFile, { text }: ParsedFile): string {
  return digest ?? digestOf(text);
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

// Each identity is looked up by the segments that a pattern begins with, so that few patterns are compared with it, and once.
function patchFinder(all: readonly PatchDocument[]): PatchSet["of"] {
  const entries = all.map((patch, at) => {
    const { match } = patch;
    const segments = match.split("/");
    const wild = segments.findIndex((segment) => hasWildcard(segment));
    const start = segments.slice(0, wild < 0 ? segments.length : wild);
    return { patch, at, start, matches: wild < 0 ? (identity: Identity) => identity === match : globMatcher(match) };
  });
  const byStart = Map.groupBy(entries, ({ start }) => start.join("/"));
  const depths = [...new Set(entries.map(({ start }) => start.length))];
  const known = new Map<Identity, readonly PatchDocument[]>();
  return (identity) => {
    const before = known.get(identity);
    if (before !== undefined) return before;
    const segments = identity.split("/");
    const within = depths.filter((depth) => depth <= segments.length);
    const near = within.flatMap((depth) => byStart.get(segments.slice(0, depth).join("/")) ?? []);
    const matching = near.filter(({ matches }) => matches(identity)).toSorted((a, b) => a.at - b.at);
    const found = matching.length === 0 ? NONE : matching.map(({ patch }) => patch);
    known.set(identity, found);
    return found;
  };
}

const NONE: readonly never[] = [];
