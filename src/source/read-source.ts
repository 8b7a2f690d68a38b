import { readRef } from "./commit.ts";
import { findRepository } from "./find-repository.ts";
import { readFolder } from "./folder.ts";
import type { KnownFiles } from "./known-files.ts";
import type { Limits } from "./limits.ts";
import type { RevisionFiles } from "./revision.ts";
import { readSourceConfig, type SourceConfig, type SourceConfigOptions } from "./source-config.ts";

/** Which source is read. */
export type SourceOptions = Omit<SourceConfigOptions, "repository"> & { readonly limits: Limits };

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
  stop: { readonly signal: AbortSignal },
): Promise<SourceRead<Result>> {
  const { root, cwd, limits, base } = options;
  const repository = await findRepository(root, stop);
  const config = await readSourceConfig({ ...options, repository }, stop);
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
