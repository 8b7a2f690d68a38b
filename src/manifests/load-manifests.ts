import type { SourceDiagnostic } from "../core/foreign-documents.ts";
import { type Graph, referrersOf, resolveGraph } from "../core/graph.ts";
import type { Kind } from "../core/kind.ts";
import type { Identity, ManifestHead } from "../core/manifest.ts";
import { type NamedList, namedList } from "../model/named-list.ts";
import { once } from "../model/once.ts";
import type { Limits } from "../source/limits.ts";
import { pacer } from "../source/pacer.ts";
import type { RevisionFiles, SourceFile } from "../source/revision.ts";
import { ExactThread } from "../yaml/read-yaml.ts";
import { type CheckBasis, type Checking, checkEverySemantics } from "./check-semantics.ts";
import type { Declaration } from "./declaration.ts";
import { diagnosticList, type Refuse } from "./diagnostic-list.ts";
import { type DeclareOptions, type FileContent, readDeclarations } from "./read-declarations.ts";
import { type Refusing, refuseDuplicates } from "./refuse-duplicates.ts";
import { type ReferenceContext, resolveReferences } from "./resolve-references.ts";
import type { SourceManifest } from "./source-manifest.ts";
import { faultyManifest, type ValidManifest, validManifest } from "./valid-manifest.ts";

/** The part of the configuration that decides what manifests are accepted. */
export type LoadRules = {
  readonly unknownFields?: "refuse" | "warn";
  /** Globs over identities that live elsewhere. */
  readonly external?: readonly string[];
  /** Globs over paths that may hold values in a known credential format. */
  readonly allowLiteralSecrets?: readonly string[];
  readonly defaults?: {
    /** The workspace of applications that name none. */
    readonly workspace_fqn?: string | null;
  } | null;
};

/** Choices of a load. */
export type LoadOptions = {
  readonly kindOf: (type: string) => Kind | undefined;
  readonly rules: LoadRules;
  readonly limits: Limits;
  /** Tells past dates. */
  readonly now: Date;
  /** What a file contributes by the same rules where that is known without reading it; null where it has to be read. */
  readonly knownContent?: (file: SourceFile) => KnownContent | null;
};

/** A document that declares a resource of ours and is refused; its identity is empty where its manifest has none. */
type Refused = Pick<ManifestHead, "identity" | "kind" | "file">;

/** What one file contributes, and the diagnostics about it alone. */
export type KnownContent = { readonly content: FileContent; readonly said: readonly SourceDiagnostic[] };

/** A file as one run has read it. */
export type ReadFile = KnownContent & {
  readonly file: SourceFile;
  /** False where its content was known. */
  readonly wasParsed: boolean;
};

/** What was read, file by file. */
export type Contents = {
  /** When reading began, epoch milliseconds. */
  readonly at: number;
  readonly files: readonly ReadFile[];
  /** The same by their paths. */
  readonly filesByPath: NamedList<ReadFile>;
  /** What manifests were checked by in this pass; null where they are invalid. */
  readonly checks: ReadonlyMap<Identity, CheckBasis | null>;
};

/** What a revision declares. */
export type Loaded = {
  /** Every valid manifest, each after everything it refers to. */
  readonly manifests: readonly SourceManifest[];
  /** The same by their identities. */
  readonly manifestsByIdentity: NamedList<SourceManifest>;
  /** Who refers to each identity; found out when first asked for. */
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
  /** Documents that declare a resource of ours, valid or not. */
  readonly documents: number;
  /** Those of them that are refused. */
  readonly refused: readonly Refused[];
  readonly contents: Contents;
};

/** Turns a revision into resolved manifests, with every fault of the whole at once. */
export async function loadManifests(
  revision: RevisionFiles,
  options: LoadOptions,
  { signal }: { signal: AbortSignal },
): Promise<Loaded> {
  signal.throwIfAborted();
  const found = diagnosticList();
  for (const diagnostic of revision.diagnostics) found.add(diagnostic);
  const { external = [] } = options.rules;
  const reading = readingOf(options, signal);
  const { pause } = reading;
  const files = await readAll(revision.files, reading);
  // In the order of the files, whoever read them and when: what is kept of very many is the same each time.
  for (const { said } of files) for (const diagnostic of said) found.add(diagnostic);
  const declarations = files.flatMap(({ content }) => content.declarations);
  const invalid = new Set(
    declarations.flatMap(({ identity, isValid }) => (isValid || identity === null ? [] : [identity])),
  );
  const declared = new Set(declarations.flatMap(({ identity }) => identity ?? []));
  const refuse: Refuse = (identity, diagnostic) => {
    invalid.add(identity);
    if (diagnostic !== null) found.add(diagnostic);
  };
  await using exact = new ExactThread();
  const again = { exact, signal };
  await refuseDuplicates(declarations, declared, { refuse, reading: again });
  const valid = declarations.flatMap((declaration) => validManifest(declaration, { declared, invalid }) ?? []);
  await pause();
  await resolveReferences(valid, { declared, external, refuse, reading: again, pause });
  const graph = resolveGraph(valid);
  const validByIdentity = byIdentity(valid);
  await refuseCycles(graph, validByIdentity, { refuse, reading: again });
  await pause();
  const checking = { now: options.now, add: found.add, refuse, reading: again };
  const checks = await checkEverySemantics(valid, checking, validByIdentity);
  await pause();
  await checkFaulty(declarations, valid, { ...checking, declared, external, pause });
  const { manifests, waves } = ordered(valid, invalid, graph);
  return {
    manifests,
    manifestsByIdentity: byIdentity(manifests),
    waves,
    referrers: once(() => referrersOf(manifests)),
    declared,
    invalid,
    diagnostics: found.all(),
    files: revision.files.length,
    documents: declarations.length,
    refused: declarations.flatMap((declaration) => refusedOf(declaration, invalid)),
    contents: { at: revision.at, files, filesByPath: namedList(files, ({ file }) => file.path), checks },
  };
}

function byIdentity(manifests: readonly SourceManifest[]): NamedList<SourceManifest> {
  return namedList(manifests, ({ identity }) => identity);
}

type Checks = Omit<ReferenceContext, "refuse"> & Omit<Checking, "refuse">;

// One fault must not hide the others: whoever mends it would only then hear of them.
async function checkFaulty(
  declarations: readonly Declaration[],
  valid: readonly ValidManifest[],
  checks: Checks,
): Promise<void> {
  const faulty = declarations.flatMap((declaration) => faultyManifest(declaration) ?? []);
  if (faulty.length === 0) return;
  const refuse: Refuse = (_, diagnostic) => {
    if (diagnostic !== null) checks.add(diagnostic);
  };
  await resolveReferences(faulty, { ...checks, refuse });
  await checkEverySemantics(faulty, { ...checks, refuse }, byIdentity([...valid, ...faulty]));
}

function refusedOf({ identity, kind, file }: Declaration, invalid: ReadonlySet<Identity>): readonly Refused[] {
  if (identity !== null && !invalid.has(identity)) return [];
  return [{ identity: identity ?? "", kind: kind.type, file: file.display }];
}

type Reading = Omit<DeclareOptions, "exact"> & Pick<LoadOptions, "knownContent">;

/** How a load reads files. */
export function readingOf(options: LoadOptions, signal: AbortSignal): Reading {
  const { unknownFields = "refuse", allowLiteralSecrets = [], defaults } = options.rules;
  const defaultWorkspace = defaults?.workspace_fqn ?? null;
  return { ...options, unknownFields, allowLiteralSecrets, defaultWorkspace, signal, pause: pacer(signal) };
}

/** Files whose content is not known are read here; what takes the exact reader or git is waited for. */
export async function readAll(files: readonly SourceFile[], reading: Reading): Promise<readonly ReadFile[]> {
  await using exact = new ExactThread();
  const read = new Map<SourceFile, ReadFile>();
  const waited: Promise<unknown>[] = [];
  for (const file of files) {
    const one = knownFile(file, reading) ?? readFileContent(file, { ...reading, exact });
    if (one instanceof Promise) {
      const late = one.then((content) => read.set(file, content));
      // Should the loop end early, nobody asks for this one any more.
      late.catch(() => undefined);
      waited.push(late);
    } else read.set(file, one);
    const pausing = reading.pause();
    if (pausing !== undefined) await pausing;
  }
  // Without waiting here the thread would end before it has answered.
  await Promise.all(waited);
  return files.flatMap((file) => read.get(file) ?? []);
}

function knownFile(file: SourceFile, { knownContent }: Reading): ReadFile | null {
  const known = knownContent?.(file) ?? null;
  return known && { file, ...known, wasParsed: false };
}

function readFileContent(file: SourceFile, options: DeclareOptions): ReadFile | Promise<ReadFile> {
  const said: SourceDiagnostic[] = [];
  const content = readDeclarations(file, options, { add: (diagnostic) => said.push(diagnostic) });
  const read = (declared: FileContent): ReadFile => ({ file, content: declared, said, wasParsed: true });
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
      detail: "Neither can be made first. A grant written on both sides is one: keep one side.",
      file: manifest?.file ?? null,
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
