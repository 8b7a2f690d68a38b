import { realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { isAtOrBelow } from "../files/real-path.ts";
import { type AppliedCommit, findApplied } from "./git/applied-commit.ts";
import { type BaseCommit, findBase, missingObjects, resolveBase } from "./git/base-commit.ts";
import { type CheckoutFault, checkoutFault } from "./git/checkout-fault.ts";
import type { Stop } from "./git/git.ts";
import { type Conflict, mergeWithBase } from "./git/merge-with-base.ts";
import { openCheckout, ownRepository } from "./git/open-checkout.ts";
import { type CommitRead, readCommitFiles } from "./git/read-commit.ts";
import { branchOf, type Repository } from "./git/repository-paths.ts";
import type { TemporaryRepository } from "./git/temporary-repository.ts";
import { diffTrees } from "./git/tree.ts";
import type { KnownFiles } from "./known-files.ts";
import type { Limits } from "./limits.ts";
import { readFolder } from "./read-folder.ts";
import { type Base, readSourceConfig, type SourceConfig, type SourceConfigOptions } from "./read-source-config.ts";
import type { RevisionFiles } from "./revision.ts";
import { realRoot, startsOf } from "./source-root.ts";
import type { FolderOptions } from "./walk-folder.ts";

/** How often a source is read anew because it was swapped for another one meanwhile. */
const MAX_READS = 3;

/** A repository whose commits are read, in place of a folder's files. */
export type CommitSource = {
  readonly repository: Repository;
  /** The commit to read now, by its full id. */
  readonly resolve: (stop: Stop) => Promise<string>;
  /** The commit that `resolve` found last; null where it has found none yet. */
  readonly newest: () => string | null;
  /** Remembers the commit that was carried out, for the next process. */
  readonly keep: (commit: string) => Promise<void>;
  /** The commit that was carried out last; null where there is none. */
  readonly kept: () => Promise<string | null>;
  /** Told that objects cannot be read, so that they are fetched anew. */
  readonly onUnreadable: () => void;
  /** Lets `resolve` ask the remote again, however lately that has failed. */
  readonly retryNow: () => void;
};

/** Which source is read. */
export type SourceOptions = Omit<SourceConfigOptions, "repository" | "isCommitted" | "shownRoot" | "before"> & {
  readonly limits: Limits;
  /** Null where the folder itself is read. */
  readonly commits: CommitSource | null;
  /** What was read of it before: a commit is read by what differs. @default nothing */
  readonly before?: Revision | null;
  /** Whether it is read without its commit where git cannot tell, or may not. @default false */
  readonly doesWithoutGit?: boolean;
};

/** A source as it was at one moment: read once and whole, so that no pass mixes two. */
export type Revision = RevisionFiles & {
  readonly config: SourceConfig;
  /** The branch of the work tree that was read; left out where it is on none. */
  readonly branch?: string;
};

/** What follows from a configuration for reading the files. */
export type PreparedRead = {
  /** Files and folders that are no part of the source, such as the state folder. */
  readonly ignore: readonly string[];
  readonly remembered: KnownFiles;
  /** The branch that a checkout must be at rest at; null where it may be at anything. */
  readonly ref: string | null;
};

/** The commit that a revision is compared with. */
export type ComparedBase = BaseCommit & {
  /** What of the revision could not be merged with it; there the revision has this branch's side. */
  readonly conflicts: readonly (Conflict & { readonly display: string })[];
  /** Reads its files. */
  readonly read: () => Promise<RevisionFiles>;
  /** The commit that was applied last; null where nothing tells. */
  readonly applied: AppliedCommit | null;
  /** Reads the files of another commit. */
  readonly readCommit: (commit: string) => Promise<RevisionFiles>;
};

/** What was read of a source; its base can be read until it is disposed of. */
export type SourceRead<Result extends PreparedRead> = Disposable & {
  readonly revision: Revision;
  readonly prepared: Result;
  /** Why the checkout is not at rest at its branch; null where it is, and where none is asked for. */
  readonly checkoutFault: CheckoutFault | null;
  /** Null where it is compared with none. */
  readonly base: ComparedBase | null;
};

/**
 * Reads a source once and whole: its configuration, and the files that this names. `prepare` is told the configuration
 * before any file is read. With a base to compare with, the revision is what merging the folder with it makes.
 */
export async function readSource<Result extends PreparedRead>(
  options: SourceOptions,
  prepare: (config: SourceConfig) => Promise<Result>,
  stop: Stop,
): Promise<SourceRead<Result>> {
  const { commits } = options;
  return commits === null ? readLinked(options, prepare, stop) : readCommitOf(commits, options, prepare, stop);
}

// A link that leads to the source is followed once; where it was swapped meanwhile, the folder that it led to may be gone in part.
async function readLinked<Result extends PreparedRead>(
  options: SourceOptions,
  prepare: (config: SourceConfig) => Promise<Result>,
  stop: Stop,
): Promise<SourceRead<Result>> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const root = realRoot(options.root);
    const isSwapped = (): boolean => realRoot(options.root) !== root;
    try {
      const read = await readFrom({ ...options, root, ...shownAs(options, root) }, prepare, stop);
      if (!isSwapped()) return read;
      read[Symbol.dispose]();
    } catch (error) {
      if (!isSwapped()) throw error;
    }
  }
  throw new HoldfastError("error", `${options.root} was swapped ${MAX_READS} times while it was read`, {
    hint: "run it again once it stays the same",
  });
}

// By the link's name, which stays: a fault that stays is then the same fault in the next revision.
function shownAs({ root, cwd, base }: SourceOptions, real: string): { readonly shownRoot?: string } {
  const isNear = isAtOrBelow(cwd, real) || isAtOrBelow(real, cwd);
  return base !== null || (isNear && !isAtOrBelow(cwd, root)) ? {} : { shownRoot: root };
}

// The commit takes the folder's place, as `drift --base` has it; its files are named as in the repository.
async function readCommitOf<Result extends PreparedRead>(
  { repository, resolve, onUnreadable }: CommitSource,
  options: SourceOptions,
  prepare: (config: SourceConfig) => Promise<Result>,
  stop: Stop,
): Promise<SourceRead<Result>> {
  const ref = await resolve(stop);
  try {
    const base = { ref, use: "instead" } as const;
    return await readFrom({ ...options, base, root: repository.gitFolder }, prepare, stop, repository);
  } catch (error) {
    // What is wrong with the content of a commit has a code of its own.
    if (!(error instanceof HoldfastError) || error.code === "error") onUnreadable();
    throw error;
  }
}

async function readFrom<Result extends PreparedRead>(
  options: SourceOptions & Pick<SourceConfigOptions, "shownRoot">,
  prepare: (config: SourceConfig) => Promise<Result>,
  stop: Stop,
  ours: Repository | null = null,
): Promise<SourceRead<Result>> {
  const { root, shownRoot = root, limits, base } = options;
  const cwd = ours === null ? options.cwd : root;
  using resources = new DisposableStack();
  const checkout = ours === null ? await openCheckout(options, resources, stop) : ownRepository(ours);
  const { repository, temporary, isUnreadable, warnings } = checkout;
  const against = temporary && base && (await findAgainst(temporary, base, stop));
  const isCommitted = ours !== null;
  const before = ours && options.before && base ? await compareWith(options.before, ours, base.ref, stop) : null;
  const config = await orMissing(against, () =>
    readSourceConfig({ ...options, repository, isCommitted, before }, stop),
  );
  const prepared = await prepare(config);
  const { ignore, remembered, ref } = prepared;
  const { paths } = config.repository;
  const place = {
    root,
    shownRoot,
    cwd,
    limits,
    repository,
    isUnreadable,
    ignore,
    remembered,
    ...(paths ? { paths } : {}),
  };
  const read =
    base !== null && against === null
      ? { files: await readCommitFiles({ ...place, ref: base.ref, before, isOurs: isCommitted }, stop), base: null }
      : await readFiles(place, against, stop);
  // Afterwards, so that nothing that began meanwhile goes unseen.
  const fault =
    ref === null ? null : await checkoutFault({ root, branch: ref, commit: commitIn(read.files), checkout }, stop);
  const kept = resources.move();
  const files = { ...read.files, diagnostics: [...warnings, ...read.files.diagnostics] };
  // A commit that is named is read from no work tree.
  const branch = repository === null || isCommitted || against?.use === "instead" ? null : branchOf(repository);
  const revision = { ...files, config, ...(branch === null ? {} : { branch }) };
  return { revision, prepared, checkoutFault: fault, base: read.base, [Symbol.dispose]: () => kept.dispose() };
}

// Once for the configuration and the files.
async function compareWith(
  revision: Revision,
  repository: Repository,
  commit: string,
  stop: Stop,
): Promise<ReadBefore | null> {
  const before = revision.commit;
  if (before === null) return null;
  const changes = before === commit ? [] : await diffTrees(repository, { before, commit }, stop);
  return { files: revision, paths: revision.config.repository.paths, config: revision.config, changes };
}

type ReadBefore = CommitRead & { readonly config: SourceConfig };

function commitIn({ commit, changedSince }: RevisionFiles): string | null {
  return commit ?? changedSince?.commit ?? null;
}

/** The commit that the folder is compared with, or that is read in its place. */
type Against = { readonly repository: TemporaryRepository; readonly ref: string } & (
  | { readonly use: "instead"; readonly commit: string }
  | { readonly use: "compare"; readonly found: BaseCommit; readonly applied: AppliedCommit | null }
);

async function findAgainst(repository: TemporaryRepository, { ref, use, applied }: Base, stop: Stop): Promise<Against> {
  if (use === "compare") {
    const found = await findBase(repository, ref, stop);
    return {
      repository,
      ref,
      use,
      found,
      applied: applied ? await findApplied(repository, applied, found, stop) : null,
    };
  }
  return { repository, ref, use, commit: await resolveBase(repository, ref, stop) };
}

type Read = { readonly files: RevisionFiles; readonly base: ComparedBase | null };

async function readFiles(place: FolderOptions, against: Against | null, stop: Stop): Promise<Read> {
  if (against === null) return { files: await readFolder(place, stop), base: null };
  const readCommit = (commit: string): Promise<RevisionFiles> =>
    orMissing(against, () => readCommitFiles({ ...place, ref: commit }, stop));
  if (against.use === "instead") return { files: await readCommit(against.commit), base: null };
  const { found, repository, applied } = against;
  const read = (): Promise<RevisionFiles> => readCommit(found.commit);
  const folder = await readFolder(place, stop);
  if (found.behind === 0) return { files: folder, base: { ...found, conflicts: [], read, applied, readCommit } };
  const searched = { root: folder.root, starts: startsOf(folder.root, place.paths) };
  const { commit, conflicts } = await mergeWithBase(repository, found, { ...folder, searched }, stop);
  const merged = await readCommit(commit);
  const unread = folder.diagnostics.filter(({ severity }) => severity === "error");
  const files = { ...merged, commit: null, diagnostics: [...unread, ...merged.diagnostics] };
  const shown = conflicts.map((conflict) => ({ ...conflict, display: displayOf(conflict, place, repository) }));
  return { files, base: { ...found, conflicts: shown, read, applied, readCommit } };
}

function displayOf({ path }: Conflict, { cwd }: FolderOptions, { top }: TemporaryRepository): string {
  return relative(realpathSync(cwd), join(top, path)).split(sep).join("/");
}

// Git fails alike where a repository is broken and where a partial clone has left something at the remote.
async function orMissing<Result>(against: Against | null, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const isMissing = against?.repository.isPartial && error instanceof HoldfastError && error.code === "error";
    throw isMissing ? missingObjects(against.ref, error) : error;
  }
}
