import { join, resolve } from "node:path";
import { isAbsolute, normalize } from "node:path/posix";
import type { Diagnostic } from "../core/diagnostic.ts";
import { diagnosticInFile } from "./file-diagnostic.ts";
import type { AppliedRef } from "./git/applied-commit.ts";
import { readFileAt } from "./git/read-commit.ts";
import { readInPlace } from "./git/read-in-place.ts";
import type { Repository } from "./git/repository-paths.ts";
import type { TreeChange } from "./git/tree-entry.ts";
import { defaultLimits } from "./limits.ts";
import type { Pace } from "./pacer.ts";
import {
  type ConfigFile,
  hasSources,
  type KeyPlace,
  noConfig,
  parseConfig,
  type RepositoryConfig,
  type RulePlaces,
  readConfig,
} from "./read-config.ts";
import { CONFIG_NAME } from "./source-root.ts";

/** A commit that the folder is compared with, or that is read instead of the folder. */
export type Base = {
  readonly ref: string;
  readonly use: "compare" | "instead";
  /** The ref that names the commit applied last. */
  readonly applied?: AppliedRef | undefined;
  /** The newest common ancestor, where the base has moved on since; absent where it has not. */
  readonly forkedAt?: string;
};

/** Which configuration is read. */
export type SourceConfigOptions = {
  readonly root: string;
  /** The root as reports name it. @default the root itself */
  readonly shownRoot?: string;
  readonly cwd: string;
  /** The repository that the root lies in. */
  readonly repository: Repository | null;
  /** Whether its commits cannot be read. @default false */
  readonly isUnreadable?: boolean;
  /** Whether another user owns it, so that git must not read its configuration. @default false */
  readonly isForeign?: boolean;
  /** The operator's own file (`--config`), read in addition to the source's. */
  readonly configFile?: string | undefined;
  /** The operator's file, if it was read already. */
  readonly operatorFile?: ConfigFile | undefined;
  readonly base: Base | null;
  /** Folders and files to read manifests from, as the operator sets them; they replace those of the source. */
  readonly paths?: readonly string[] | undefined;
  /** Whether the source is a commit only, without a folder that has its own configuration. @default false */
  readonly isCommitted?: boolean;
  /**
   * The configuration of an earlier commit, and the changes since; null changes mean that git cannot compare them.
   * @default null
   */
  readonly before?: { readonly config: SourceConfig; readonly changes: readonly TreeChange[] | null } | null;
};

/** The configuration of one revision. */
export type SourceConfig = {
  /** The files that it was read from: the checkout's first, the operator's last. */
  readonly files: readonly ConfigFile[];
  /** Whether the revision has a configuration of its own. */
  readonly isPresent: boolean;
  /** The keys that a pull request may change; an operator's value replaces the whole key. */
  readonly repository: RepositoryConfig;
  readonly policies: PolicyFolders;
  /** Where the rules in force stand, by their pointers. */
  readonly places: RulePlaces;
  /** Its faults. */
  readonly diagnostics: readonly Diagnostic[];
};

/** The folders of policies, of which none replaces another one. */
export type PolicyFolders = {
  /** All of the source, relative to its root: their files are no manifests. */
  readonly folders: readonly string[];
  /** That of what is planned: of the merge result, where it is compared with a base. Null without one. */
  readonly own: string | null;
  /** That of the commit that is compared with, as this commit has it; null without one. */
  readonly base: string | null;
  /** The operator's, as the configuration has it; null without one. */
  readonly operator: string | null;
  /** Where the key for `own` stands. */
  readonly place: KeyPlace | null;
};

/** Reads the configuration of a source: its own file and the operator's. */
export async function readSourceConfig(options: SourceConfigOptions, pace: Pace): Promise<SourceConfig> {
  const { base, paths, isCommitted = false } = options;
  const operators = await operatorFiles(options);
  const own = isCommitted || operators.some(hasSources) ? noConfig : await ownConfig(options, pace);
  const atBase = base === null ? null : await readConfigAt(base.ref, options, pace);
  const inForce = base?.use === "instead" ? (atBase ?? own) : own;
  const compared = base?.use === "compare" ? atBase : null;
  const atFork = base?.forkedAt === undefined ? null : await readConfigAt(base.forkedAt, options, pace);
  // A merge takes a key from the side that has changed it.
  const isOfBase = compared !== null && atFork?.repository.policies === inForce.repository.policies;
  const merged = atFork !== null && isOfBase ? compared : inForce;
  const policies = policyFolders({ merged, atBase: compared, operators });
  return {
    files: [isCommitted ? (atBase ?? own) : own, ...operators],
    isPresent: inForce.file !== null,
    policies: policies.folders,
    repository: {
      // A pull request must not change the rules that it is checked by, so those of the base apply.
      ...(atBase ?? own).repository,
      ...guardsOf(own),
      ...operators.map((file) => ({ ...file.repository, ...guardsOf(file) }))[0],
      ...(paths === undefined ? {} : { paths: [...paths] }),
    },
    places: new Map([atBase ?? own, ...operators.slice(0, 1)].flatMap(({ places }) => [...places])),
    diagnostics: [
      ...[own, ...operators, ...(atBase === null ? [] : [atBase])].flatMap((file) => file.diagnostics),
      ...policies.diagnostics,
    ],
  };
}

function policyFolders({
  merged,
  atBase,
  operators,
}: {
  readonly merged: ConfigFile;
  readonly atBase: ConfigFile | null;
  readonly operators: readonly ConfigFile[];
}): { readonly folders: PolicyFolders; readonly diagnostics: readonly Diagnostic[] } {
  const [own, base] = [folderBelow(merged), atBase === null ? null : folderBelow(atBase)];
  const found = [own, base].filter((one) => one !== null);
  return {
    folders: {
      folders: [...new Set(found.flatMap(({ folder }) => folder ?? []))],
      own: own?.folder ?? null,
      base: base?.folder ?? null,
      operator: operators[0]?.repository.policies ?? null,
      place: merged.places.get("/policies") ?? null,
    },
    diagnostics: found.flatMap(({ fault }) => fault ?? []),
  };
}

type BelowRoot = { readonly folder: string | null; readonly fault: Diagnostic | null };

// The root itself would take every manifest for a policy.
function folderBelow({ repository: { policies: named }, file, places }: ConfigFile): BelowRoot | null {
  if (named === undefined || file === null) return null;
  const folder = normalize(named).replace(/\/+$/, "");
  const isBelow = folder !== "." && folder.split("/")[0] !== ".." && !isAbsolute(folder);
  if (isBelow) return { folder, fault: null };
  const wording = {
    severity: "error",
    code: "configuration",
    summary: "`policies` names no folder below the root of the source",
    detail: "Name a folder, such as `policies`.",
  } as const;
  return { folder: null, fault: diagnosticInFile(file, wording, places.get("/policies") ?? null) };
}

// Of a checkout, its content is what git says it is.
async function ownConfig(options: SourceConfigOptions, pace: Pace): Promise<ConfigFile> {
  const { root, shownRoot, cwd, repository, isForeign = false, isUnreadable = false } = options;
  const place = { root, isForeign, limit: defaultLimits.fileBytes };
  const content = repository === null || isUnreadable ? null : await readInPlace(CONFIG_NAME, place, pace);
  return readConfig({ root, shownRoot, cwd, content });
}

async function operatorFiles({ root, cwd, configFile, operatorFile }: SourceConfigOptions): Promise<ConfigFile[]> {
  if (operatorFile !== undefined) return [operatorFile];
  if (configFile === undefined) return [];
  const file = await readConfig({ root, cwd, file: configFile });
  // The source's own file is read as such.
  return file.isInSource && resolve(cwd, configFile) === join(root, CONFIG_NAME) ? [] : [file];
}

// Looser guards in the source's file are operator keys, which were accepted before.
function guardsOf({ operator: { guards } }: ConfigFile): Pick<RepositoryConfig, "guards"> {
  return guards === undefined ? {} : { guards };
}

async function readConfigAt(ref: string, options: SourceConfigOptions, pace: Pace): Promise<ConfigFile> {
  const { root, cwd, repository, isCommitted = false, before = null } = options;
  const [known] = before?.config.files ?? [];
  const isSame = before?.changes?.every(({ path }) => path !== CONFIG_NAME) ?? false;
  if (isCommitted && isSame && known !== undefined) return known;
  const file = await readFileAt(
    { root, cwd, repository, limits: defaultLimits, ref, path: CONFIG_NAME, isOurs: isCommitted },
    pace,
  );
  if (file === null) return noConfig;
  return parseConfig(await file.bytes(pace), {
    file: isCommitted ? CONFIG_NAME : `${ref}:${CONFIG_NAME}`,
    isInSource: true,
  });
}
