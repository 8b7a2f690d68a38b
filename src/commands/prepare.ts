import { existsSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { JsonObject } from "../contract/json.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { hasErrors } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import { isEverything, isUnder, type Selection, select, unmatched } from "../core/select.ts";
import { kindOf } from "../kinds/index.ts";
import { type Loaded, load } from "../manifests/load.ts";
import type { SourceMemory } from "../manifests/memory.ts";
import { noSource } from "../manifests/remembered.ts";
import { diagnosticsText, severityCounts, validationLine } from "../render/diagnostics.ts";
import type { SealKey } from "../seal/key.ts";
import { type CommitOptions, readFileAt, readRef } from "../source/commit.ts";
import { type Config, parseConfig, readConfig } from "../source/config.ts";
import { findRepository } from "../source/find-repository.ts";
import { readFolder } from "../source/folder.ts";
import type { Stop } from "../source/git.ts";
import { defaultLimits } from "../source/limits.ts";
import type { Revision } from "../source/revision.ts";
import { CONFIG_NAME, contentTop, findRoot } from "../source/root.ts";
import { isTrackedFolder } from "../source/tracked.ts";
import { requireStateFolder } from "../state/state-folder.ts";
import type { Invocation } from "./command.ts";
import { honouredKeys } from "./operator-keys.ts";
import { resolveSettings, type Settings } from "./settings.ts";
import { memoryWith, rememberedIn } from "./source-memory.ts";
import { growNoMore } from "./young-generation.ts";

/** A command's source, read and validated, with its settings. */
export type Prepared = {
  readonly root: string;
  readonly settings: Settings;
  /** The operator keys that are honoured. */
  readonly operator: Config["operator"];
  readonly repository: Config["repository"];
  readonly revision: Revision;
  readonly loaded: Omit<Loaded, "toRemember">;
  /** What the selection takes, with everything that it refers to. */
  readonly selected: readonly Manifest[];
  readonly isWhole: boolean;
  /** Faults of the selected files; all of them where everything is selected. */
  readonly diagnostics: readonly Diagnostic[];
  /** Manifests at the base commit, where one is compared with. */
  readonly base: ReadonlyMap<Identity, JsonObject> | null;
  readonly now: () => number;
  /** Remembers what was read in a state folder that was not there yet. */
  readonly rememberWith: (key: SealKey) => void;
};

/** Which commit stands where: `compare` reads the base beside the folder, `instead` reads it in the folder's place. */
export type BaseUse = "compare" | "instead";

/** Finds, reads and validates the source of a command. */
export async function prepare(
  invocation: Invocation,
  { base: use = "compare", mayAsk = true }: { base?: BaseUse; mayAsk?: boolean } = {},
): Promise<Prepared> {
  growNoMore();
  const { flags, terminal, args } = invocation;
  const { cwd, stopping: signal, now } = terminal;
  const root = findRoot({ cwd, source: flags.source });
  const own = await readConfig({ root, cwd, file: flags.config });
  const at = { root, cwd, repository: await findRepository(root, { signal }), limits: defaultLimits };
  const config = flags.base === undefined ? own : { ...own, ...(await configAt(flags.base, at, { signal })) };
  const operator = await honouredKeys(config, { root, mayAsk }, terminal);
  const told = resolveSettings(invocation, { ...config.repository, ...operator }, root);
  // Before each pass: what a daemon follows may have brought a state folder with its last change.
  const statePlace = { content: contentTop(root), isTracked: isTrackedFolder, signal };
  const settings = { ...told, state: await requireStateFolder(told.state, statePlace) };
  const place = { ...at, ...(config.repository.paths ? { paths: config.repository.paths } : {}) };
  const readBase = (ref: string): Promise<Revision> => readRef({ ...place, ref }, { signal });
  const remembering = { root, state: settings.state, rules: config.repository };
  const memory = await rememberedIn(remembering, terminal);
  const remembered = memory?.load() ?? noSource;
  const ignore = [settings.state, ...plansOf(invocation)];
  const revision =
    use === "instead" && flags.base !== undefined
      ? await readBase(flags.base)
      : await readFolder({ ...place, ignore, remembered }, { signal });
  const loading = { kindOf, rules: config.repository, limits: defaultLimits, now: new Date(now()) };
  const { toRemember, ...read } = await load(revision, { ...loading, remembered }, { signal });
  if (memory !== null) remember(memory, toRemember);
  const loaded = withConfigFaults(read, config);
  const selection = selectionOf(invocation, root);
  mustMatch(selection, loaded, revision, args, root);
  return {
    root,
    settings,
    operator,
    repository: config.repository,
    revision,
    loaded,
    selected: select(loaded.manifests, selection),
    isWhole: isEverything(selection),
    diagnostics: selectDiagnostics(loaded.diagnostics, selection),
    base:
      use === "compare" && flags.base !== undefined
        ? valuesOf(await load(await readBase(flags.base), loading, { signal }))
        : null,
    now,
    rememberWith:
      memory === null ? (key) => remember(memoryWith(key, remembering, terminal), toRemember) : isRemembered,
  };
}

// Made apart from the other, which holds everything that was read.
const isRemembered = (): void => undefined;

/** Says what is wrong with the source, and whether that forbids to go on. */
export function refuseInvalid({ loaded, settings, diagnostics }: Prepared, { terminal }: Invocation): boolean {
  terminal.stderr.write(diagnosticsText(diagnostics, settings.diagnosticView));
  if (loaded.files === 0) terminal.stderr.write("warning: no manifest files were found\n");
  if (!hasErrors(loaded.diagnostics, settings) || settings.partial) return false;
  const { files, manifests } = loaded;
  const counts = { files, manifests: manifests.length, declared: loaded.documents, strict: settings.strict };
  terminal.stderr.write(validationLine({ ...counts, ...severityCounts(loaded.diagnostics) }));
  terminal.stderr.write("nothing was sent; --partial goes on with the valid manifests\n");
  return true;
}

function remember(memory: SourceMemory, toRemember: Loaded["toRemember"]): void {
  const remembered = toRemember();
  if (remembered !== null) memory.save(remembered);
}

// A pull request must not decide by what rules it is looked at.
async function configAt(
  ref: string,
  at: Omit<CommitOptions, "ref">,
  stop: Stop,
): Promise<Pick<Config, "repository" | "diagnostics">> {
  const file = await readFileAt({ ...at, ref, path: CONFIG_NAME }, stop);
  if (file === null) return { repository: {}, diagnostics: [] };
  return parseConfig(file.bytes(), { file: `${ref}:${CONFIG_NAME}`, isInSource: true });
}

// A plan kept in the source is no part of it: making one must not change what it was made of.
function plansOf({ flags: { out, plan }, terminal: { cwd } }: Invocation): readonly string[] {
  return [out, plan].flatMap((file) => (file === undefined ? [] : [resolve(cwd, file)]));
}

function withConfigFaults(loaded: Prepared["loaded"], { diagnostics }: Config): Prepared["loaded"] {
  return diagnostics.length === 0 ? loaded : { ...loaded, diagnostics: [...diagnostics, ...loaded.diagnostics] };
}

function selectionOf({ args, flags, terminal: { cwd } }: Invocation, root: string): Selection {
  // The source's own folder is the whole of it.
  const paths = args.map((path) => relative(cwd, resolve(cwd, path)).split(sep).join("/"));
  const isRoot = args.some((path) => resolve(cwd, path) === root);
  return { paths: isRoot ? [] : paths, only: flags.only ?? [], kinds: flags.kind ?? [], exclude: flags.exclude ?? [] };
}

function mustMatch(
  selection: Selection,
  loaded: Prepared["loaded"],
  revision: Revision,
  args: readonly string[],
  root: string,
): void {
  const missing = args.find((path) => !existsSync(path));
  if (missing !== undefined) {
    throw new HoldfastError("invalid", `${missing} does not exist`, { hint: "correct the path" });
  }
  const unknownKind = selection.kinds.find((kind) => kindOf(kind) === undefined);
  if (unknownKind !== undefined) {
    throw new HoldfastError("invalid", `--kind ${unknownKind} is no kind`, {
      hint: "the kinds are in the README's table",
    });
  }
  if (isEverything(selection)) return;
  const files = revision.files.map(({ display }) => display);
  const [stray] = unmatched(loaded.declared, selection, files);
  if (stray === undefined) return;
  throw new HoldfastError("invalid", `${stray} matches nothing in the source ${root}`, {
    hint: "paths and --only select within the source; name another one with --source",
  });
}

function selectDiagnostics(diagnostics: readonly Diagnostic[], { paths }: Selection): readonly Diagnostic[] {
  if (paths.length === 0) return diagnostics;
  return diagnostics.filter(({ file }) => file === null || paths.some((path) => isUnder(path, file)));
}

function valuesOf({ manifests }: Loaded): ReadonlyMap<Identity, JsonObject> {
  return new Map(manifests.map(({ identity, value }) => [identity, value]));
}
