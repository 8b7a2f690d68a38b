import { hasErrors } from "../core/diagnostic.ts";
import { type Graph, referrersOf, resolveGraph } from "../core/graph.ts";
import { type DeclaredAt, type InvalidManifest, invalidManifests } from "../core/invalid-manifest.ts";
import type { Identity } from "../core/manifest.ts";
import type { SourceDiagnostic } from "../core/other-documents.ts";
import { type NamedList, namedList } from "../model/named-list.ts";
import { once } from "../model/once.ts";
import type { Limits } from "../source/limits.ts";
import { type Pace, pacer } from "../source/pacer.ts";
import type { RevisionFiles, SourceFile } from "../source/revision.ts";
import { ExactProcess } from "../yaml/read-yaml.ts";
import {
  atManifests,
  diagnosticsIn,
  filesByUse,
  isUnreadPatch,
  type PatchRules,
  patchProblems,
  unusedRenames,
} from "./check-patches.ts";
import { type CheckBasis, type Checking, checkEverySemantics } from "./check-semantics.ts";
import { type Declaration, faultyManifest, type ValidManifest, validManifest } from "./declaration.ts";
import { diagnosticList, type Refuse } from "./diagnostic-list.ts";
import { type DeclareOptions, type FileContent, readDeclarations } from "./read-declarations.ts";
import { NO_PATCHES, type PatchSet, readPatches } from "./read-patches.ts";
import { type Refusing, refuseDuplicates } from "./refuse-duplicates.ts";
import { type ReferenceContext, resolveReferences } from "./resolve-references.ts";
import type { Rereading, SourceManifest } from "./source-manifest.ts";
import { type Transform, type TransformRules, transformOf } from "./transform.ts";

/** The part of the configuration that decides which manifests are accepted. */
export type LoadRules = TransformRules &
  PatchRules & {
    readonly unknownFields?: "refuse" | "warn";
    /** Globs over identities that are managed elsewhere. */
    readonly external?: readonly string[];
    /** Globs over paths that may hold values in a known credential format. */
    readonly allowLiteralSecrets?: readonly string[];
  };

/** Options of a load. */
export type LoadOptions = {
  readonly rules: LoadRules;
  readonly limits: Limits;
  /** The time that dates in manifests are compared with. */
  readonly now: Date;
  /** Returns what a file contributes with the same rules, if that is known without reading it; else null. */
  readonly knownContent?: (file: SourceFile, transform: Transform) => KnownContent | null;
};

/** What one file contributes, and the diagnostics about it alone. */
export type KnownContent = { readonly content: FileContent; readonly diagnostics: readonly SourceDiagnostic[] };

/** A file that one run has read. */
export type ReadFile = KnownContent & {
  readonly file: SourceFile;
  /** False if its content was known. */
  readonly wasParsed: boolean;
  /** Set if it holds patches, and no manifests. */
  readonly isPatchFile?: true;
};

/** The files that were read, and the results of the checks. */
export type Contents = {
  /** When reading began, epoch milliseconds. */
  readonly at: number;
  readonly files: readonly ReadFile[];
  /** The same files by path. */
  readonly filesByPath: NamedList<ReadFile>;
  /** What the checks of this pass depended on; null for invalid manifests. */
  readonly checks: ReadonlyMap<Identity, CheckBasis | null>;
  readonly patches: PatchSet;
};

/** What a revision declares. */
export type Loaded = {
  /** Every valid manifest, each after everything it refers to. */
  readonly manifests: readonly SourceManifest[];
  /** The same manifests by identity. */
  readonly manifestsByIdentity: NamedList<SourceManifest>;
  /** The referrers of each identity; computed on first use. */
  readonly referrers: () => ReadonlyMap<Identity, readonly Identity[]>;
  /** Depth of each valid manifest in the reference graph, from 0. */
  readonly waves: ReadonlyMap<Identity, number>;
  /** Every identity that is declared, refused ones included. */
  readonly declared: ReadonlySet<Identity>;
  /** Declared identities whose manifests are refused, so that what depends on them is blocked. */
  readonly invalid: ReadonlySet<Identity>;
  readonly diagnostics: readonly SourceDiagnostic[];
  /** Files that were read. */
  readonly files: number;
  /** Documents that declare a managed resource, valid or not. */
  readonly documents: number;
  /** What is refused, with its first error. */
  readonly refused: readonly InvalidManifest[];
  readonly contents: Contents;
};

/** Turns a revision into resolved manifests, and reports all faults at once. */
export async function loadManifests(
  revision: RevisionFiles,
  options: LoadOptions,
  { clock, signal }: Pace,
): Promise<Loaded> {
  signal.throwIfAborted();
  const found = diagnosticList();
  for (const diagnostic of revisionDiagnostics(revision, options.rules)) found.add(diagnostic);
  const { external = [] } = options.rules;
  await using exact = new ExactProcess();
  const { manifestFiles, patchFiles } = filesByUse(revision.files, options.rules);
  const patches = await readPatches(patchFiles, { ...options, exact, signal });
  const reading = readingOf(options, { exact, clock, signal }, patches);
  const { pause } = reading;
  const read = await readAll(manifestFiles, reading);
  // In file order, whichever file was read first: if some are dropped, they are the same on every run.
  for (const diagnostic of diagnosticsIn(read, patches)) found.add(diagnostic);
  const files = withPatchFiles(read, patches, revision);
  const declarations = read.flatMap(({ content }) => content.declarations);
  const invalid = new Set(
    declarations.flatMap(({ identity, isValid }) => (isValid || identity === null ? [] : [identity])),
  );
  const declared = new Set(declarations.flatMap(({ identity }) => identity ?? []));
  const problems = patchProblems({ patches, files: read, declared }, options.rules, revision);
  for (const one of [...problems.diagnostics, ...unusedRenames(read, options.rules)]) found.add(one);
  // A manifest without its patches is not what the source declares.
  if (problems.refusesAll) for (const identity of declared) invalid.add(identity);
  const refuse: Refuse = (identity, diagnostic) => {
    invalid.add(identity);
    if (diagnostic !== null) found.add(diagnostic);
  };
  await refuseDuplicates(declarations, declared, { refuse, reading });
  const valid = declarations.flatMap((declaration) => validManifest(declaration, { declared, invalid }) ?? []);
  await pause();
  await resolveReferences(valid, { declared, external, refuse, reading, pause });
  const graph = resolveGraph(valid);
  const validByIdentity = byIdentity(valid);
  await refuseCycles(graph, validByIdentity, { refuse, reading });
  await pause();
  const checking = { now: options.now, add: found.add, refuse, reading };
  const checks = await checkEverySemantics(valid, checking, validByIdentity);
  await pause();
  await checkFaulty(declarations, valid, { ...checking, declared, external, pause });
  const { manifests, waves } = ordered(valid, invalid, graph);
  const diagnostics = found.all();
  return {
    manifests,
    manifestsByIdentity: byIdentity(manifests),
    waves,
    referrers: once(() => referrersOf(manifests)),
    declared,
    invalid,
    diagnostics,
    files: files.reduce((sum, file) => sum + (isOurReport(file) ? 0 : 1), 0),
    documents: declarations.length,
    refused: refusedOf(declarations, invalid, atManifests(diagnostics, patches)),
    contents: { at: revision.at, files, filesByPath: namedList(files, ({ file }) => file.path), checks, patches },
  };
}

/** What reading the files of a revision has reported; a patch file that is not read is an error. */
export function revisionDiagnostics(
  revision: RevisionFiles,
  { patches = null }: LoadRules,
): readonly SourceDiagnostic[] {
  if (patches === null) return revision.diagnostics;
  return revision.diagnostics.map((one) =>
    isUnreadPatch(one, patches, revision) ? { ...one, severity: "error" as const } : one,
  );
}

/** The files that were read, with the patch files, in the order of the revision. */
function withPatchFiles(
  read: readonly ReadFile[],
  patches: PatchSet,
  { files }: Pick<RevisionFiles, "files">,
): readonly ReadFile[] {
  if (patches.files.length === 0) return read;
  const byPath = new Map([...read, ...patchFilesOf(patches)].map((one) => [one.file.path, one]));
  return files.flatMap(({ path }) => byPath.get(path) ?? []);
}

/** The patch files as files that were read. They are read in every pass, and no outline is kept of them. */
export function patchFilesOf({ files }: PatchSet): readonly ReadFile[] {
  const content = { declarations: [], isFinal: true };
  return files.map(({ file, diagnostics }) => ({
    file,
    content,
    diagnostics,
    wasParsed: false,
    isPatchFile: true as const,
  }));
}

/** Whether a file holds nothing but a plan or a report of ours: every other file declares or is told of something. */
export function isOurReport({ content, diagnostics, isPatchFile }: ReadFile): boolean {
  return content.declarations.length === 0 && diagnostics.length === 0 && isPatchFile !== true;
}

function byIdentity(manifests: readonly SourceManifest[]): NamedList<SourceManifest> {
  return namedList(manifests, ({ identity }) => identity);
}

type Checks = Omit<ReferenceContext, "refuse"> & Omit<Checking, "refuse">;

// Invalid manifests are checked too: one fault must not hide others until it is fixed.
async function checkFaulty(
  declarations: readonly Declaration[],
  valid: readonly ValidManifest[],
  checks: Checks,
): Promise<void> {
  const faulty = declarations.flatMap((declaration) => faultyManifest(declaration, checks.declared) ?? []);
  if (faulty.length === 0) return;
  const refuse: Refuse = (_, diagnostic) => {
    if (diagnostic !== null) checks.add(diagnostic);
  };
  await resolveReferences(faulty, { ...checks, refuse });
  await checkEverySemantics(faulty, { ...checks, refuse }, byIdentity([...valid, ...faulty]));
}

function refusedOf(
  declarations: readonly Declaration[],
  invalid: ReadonlySet<Identity>,
  diagnostics: readonly SourceDiagnostic[],
): readonly InvalidManifest[] {
  // A document that declares nothing that is known has an error too.
  if (invalid.size === 0 && !hasErrors(diagnostics)) return [];
  const declared = declarations.map((declaration) => declaredAt(declaration, invalid));
  return invalidManifests(declared, diagnostics);
}

function declaredAt({ identity, kind, file, line }: Declaration, invalid: ReadonlySet<Identity>): DeclaredAt {
  const isRefused = identity === null || invalid.has(identity);
  return { identity: identity ?? "", kind: kind.type, file: file.display, line, isRefused };
}

type Reading = DeclareOptions & Pick<LoadOptions, "knownContent">;

/** The options for reading files of a load. */
export function readingOf(options: LoadOptions, rereading: Rereading & Pace, patches: PatchSet = NO_PATCHES): Reading {
  const { unknownFields = "refuse", allowLiteralSecrets = [] } = options.rules;
  return {
    ...options,
    ...rereading,
    unknownFields,
    allowLiteralSecrets,
    transform: transformOf(options.rules, patches),
    pause: pacer(rereading),
  };
}

/** Reads the files whose content is not known; those that need the exact reader or git are read concurrently. */
export async function readAll(files: readonly SourceFile[], reading: Reading): Promise<readonly ReadFile[]> {
  const read = new Map<SourceFile, ReadFile>();
  const pending: Promise<unknown>[] = [];
  for (const file of files) {
    const one = knownFile(file, reading) ?? readFileContent(file, reading);
    if (one instanceof Promise) {
      const stored = one.then((content) => read.set(file, content));
      // If the loop fails first, this promise is never awaited and must not count as unhandled.
      stored.catch(() => undefined);
      pending.push(stored);
    } else read.set(file, one);
    const pausing = reading.pause();
    if (pausing !== undefined) await pausing;
  }
  await Promise.all(pending);
  return files.flatMap((file) => read.get(file) ?? []);
}

function knownFile(file: SourceFile, { knownContent, transform }: Reading): ReadFile | null {
  const known = knownContent?.(file, transform) ?? null;
  return known && { file, ...known, wasParsed: false };
}

function readFileContent(file: SourceFile, options: DeclareOptions): ReadFile | Promise<ReadFile> {
  const diagnostics: SourceDiagnostic[] = [];
  const content = readDeclarations(file, options, { add: (diagnostic) => diagnostics.push(diagnostic) });
  const read = (declared: FileContent): ReadFile => ({ file, content: declared, diagnostics, wasParsed: true });
  return content instanceof Promise ? content.then(read) : read(content);
}

async function refuseCycles(
  graph: Graph,
  valid: NamedList<SourceManifest>,
  { refuse, reading }: Refusing,
): Promise<void> {
  for (const cycle of graph.cycles) {
    const [first = "", second] = cycle;
    const manifest = valid.named(first);
    const pointer = manifest?.references.find(({ identity }) => identity === second)?.pointer ?? "";
    const position = (await manifest?.locate(pointer, reading)) ?? null;
    refuse(first, {
      severity: "error",
      code: "cycle",
      summary: `a cycle of references: ${shorten(cycle).join(" → ")}`,
      detail: "None of them can be created first. A grant on both sides is a cycle too: keep one side.",
      file: position?.file ?? null,
      line: position?.line ?? null,
      column: position?.column ?? null,
    });
  }
  for (const identity of graph.cyclic) refuse(identity, null);
}

function shorten(cycle: readonly string[]): readonly string[] {
  return cycle.length <= 10 ? cycle : [...cycle.slice(0, 5), `… ${cycle.length - 9} more …`, ...cycle.slice(-4)];
}

function ordered(
  valid: readonly SourceManifest[],
  invalid: ReadonlySet<Identity>,
  graph: Graph,
): Pick<Loaded, "manifests" | "waves"> {
  const accepted = new Map(
    valid.filter(({ identity }) => !invalid.has(identity)).map((manifest) => [manifest.identity, manifest]),
  );
  const { order, waves } = accepted.size === valid.length ? graph : resolveGraph([...accepted.values()]);
  return { manifests: order.flatMap((identity) => accepted.get(identity) ?? []), waves };
}
