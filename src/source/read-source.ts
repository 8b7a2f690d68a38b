import { HoldfastError } from "../core/errors.ts";
import { readRef } from "./commit.ts";
import { findRepository } from "./find-repository.ts";
import { readFolder } from "./folder.ts";
import type { KnownFiles } from "./known-files.ts";
import type { Limits } from "./limits.ts";
import type { Repository } from "./repository.ts";
import type { RevisionFiles } from "./revision.ts";
import { readSourceConfig, type SourceConfig, type SourceConfigOptions } from "./source-config.ts";

/** A repository whose commits are read, in place of a folder's files. */
export type CommitSource = {
  readonly repository: Repository;
  /** The commit to read now, by its full id. */
  readonly resolve: (stop: Stop) => Promise<string>;
  /** Told that objects cannot be read, so that they are fetched anew. */
  readonly onUnreadable: () => void;
};

/** Which source is read. */
export type SourceOptions = Omit<SourceConfigOptions, "repository" | "isCommitted"> & {
  readonly limits: Limits;
  /** Null where the folder itself is read. */
  readonly commits: CommitSource | null;
};

type Stop = { readonly signal: AbortSignal };

/** A source as it was at one moment: read once and whole, so that no pass mixes two. */
export type Revision = RevisionFiles & { readonly config: SourceConfig };

/** What follows from a configuration for reading the files. */
export type Settled = {
  /** Files and folders that are no part of the source, such as the state folder. */
  readonly ignore: readonly string[];
  readonly remembered: KnownFiles;
};

/** What was read of a source. */
export type SourceRead<Result extends Settled> = {
  readonly revision: Revision;
  readonly settled: Result;
  /** Reads the files of the commit that the revision is compared with; null where there is none. */
  readonly readBase: (() => Promise<RevisionFiles>) | null;
};

/**
 * Reads a source once and whole: its configuration, and the files that this names. `settle` is told the configuration
 * before any file is read.
 */
export async function readSource<Result extends Settled>(
  options: SourceOptions,
  settle: (config: SourceConfig) => Promise<Result>,
  stop: Stop,
): Promise<SourceRead<Result>> {
  const { commits } = options;
  return commits === null ? readFrom(options, settle, stop) : readCommitOf(commits, options, settle, stop);
}

// The commit takes the folder's place, as `drift --base` has it; its files are named as in the repository.
async function readCommitOf<Result extends Settled>(
  { repository, resolve, onUnreadable }: CommitSource,
  options: SourceOptions,
  settle: (config: SourceConfig) => Promise<Result>,
  stop: Stop,
): Promise<SourceRead<Result>> {
  const ref = await resolve(stop);
  try {
    const base = { ref, use: "instead" } as const;
    return await readFrom({ ...options, base, root: repository.gitFolder }, settle, stop, repository);
  } catch (error) {
    // What is wrong with the content of a commit has a code of its own.
    if (!(error instanceof HoldfastError) || error.code === "error") onUnreadable();
    throw error;
  }
}

async function readFrom<Result extends Settled>(
  options: SourceOptions,
  settle: (config: SourceConfig) => Promise<Result>,
  stop: Stop,
  ours: Repository | null = null,
): Promise<SourceRead<Result>> {
  const { root, limits, base } = options;
  const cwd = ours === null ? options.cwd : root;
  const repository = ours ?? (await findRepository(root, stop));
  const config = await readSourceConfig({ ...options, repository, isCommitted: ours !== null }, stop);
  const settled = await settle(config);
  const { paths } = config.repository;
  const place = { root, cwd, limits, repository, ...(paths ? { paths } : {}) };
  const readCommit = (ref: string): Promise<RevisionFiles> => readRef({ ...place, ref }, stop);
  const { ignore, remembered } = settled;
  const files =
    base?.use === "instead" ? await readCommit(base.ref) : await readFolder({ ...place, ignore, remembered }, stop);
  const readBase = base?.use === "compare" ? () => readCommit(base.ref) : null;
  return { revision: { ...files, config }, settled, readBase };
}
