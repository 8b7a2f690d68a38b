import { join, resolve } from "node:path";
import type { Diagnostic } from "../core/diagnostic.ts";
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
  /** Where the rules in force stand, by their pointers. */
  readonly places: RulePlaces;
  /** Its faults. */
  readonly diagnostics: readonly Diagnostic[];
};

/** Reads the configuration of a source: its own file and the operator's. */
export async function readSourceConfig(options: SourceConfigOptions, pace: Pace): Promise<SourceConfig> {
  const { base, paths, isCommitted = false } = options;
  const operators = await operatorFiles(options);
  const own = isCommitted || operators.some(hasSources) ? noConfig : await ownConfig(options, pace);
  const atBase = base === null ? null : await readConfigAt(base.ref, options, pace);
  return {
    files: [isCommitted ? (atBase ?? own) : own, ...operators],
    isPresent: (base?.use === "instead" && atBase !== null ? atBase : own).file !== null,
    repository: {
      // A pull request must not change the rules that it is checked by, so those of the base apply.
      ...(atBase ?? own).repository,
      ...guardsOf(own),
      ...operators.map((file) => ({ ...file.repository, ...guardsOf(file) }))[0],
      ...(paths === undefined ? {} : { paths: [...paths] }),
    },
    places: new Map([atBase ?? own, ...operators.slice(0, 1)].flatMap(({ places }) => [...places])),
    diagnostics: [own, ...operators, ...(atBase === null ? [] : [atBase])].flatMap((file) => file.diagnostics),
  };
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
