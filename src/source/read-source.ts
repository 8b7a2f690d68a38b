import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Stop } from "../clock/clock.ts";
import { HoldfastError } from "../core/errors.ts";
import { isAtOrBelow, relativePath } from "../files/real-path.ts";
import type { KnownFiles } from "./file-stamp.ts";
import { type AppliedCommit, type AppliedRef, findApplied } from "./git/applied-commit.ts";
import { type BaseCommit, findBase, missingObjects, resolveBase } from "./git/base-commit.ts";
import { type CheckoutFault, checkoutFault } from "./git/checkout-fault.ts";
import { type Conflict, mergeWithBase } from "./git/merge-with-base.ts";
import { openCheckout, ownRepository } from "./git/open-checkout.ts";
import { type CommitRead, readCommitFiles } from "./git/read-commit.ts";
import { branchOf, type Repository } from "./git/repository-paths.ts";
import type { TemporaryRepository } from "./git/temporary-repository.ts";
import { diffTrees } from "./git/tree.ts";
import type { Limits } from "./limits.ts";
import type { Pace } from "./pacer.ts";
import { readFolder } from "./read-folder.ts";
import { type Base, readSourceConfig, type SourceConfig, type SourceConfigOptions } from "./read-source-config.ts";
import { filesByPath, type RevisionFiles, withoutOtherPatches, withPoliciesApart } from "./revision.ts";
import { UnsettledSourceError } from "./source-error.ts";
import { NO_FOLDERS, type PatchFolders, realRoot } from "./source-root.ts";
import type { FolderOptions } from "./walk-folder.ts";

/** How often a source is read if its link is swapped while it is read. */
const MAX_READS = 3;

/** A repository whose commits are read instead of a folder. */
export type CommitSource = {
  readonly repository: Repository;
  /** The commit to read now, by its full id. */
  readonly resolve: (stop: Stop) => Promise<string>;
  /** The commit that `resolve` found last; null before the first one. */
  readonly newest: () => string | null;
  /** Stores the commit that was applied, for the next process. */
  readonly keep: (commit: string) => Promise<void>;
  /** The commit that was applied last, given the one that the state has kept; null if there is none that can be read. */
  readonly kept: (stored: string | null) => Promise<string | null>;
  /** Called if objects cannot be read, so that the next `resolve` fetches everything again. */
  readonly onUnreadable: () => void;
  /** Makes the history of up to `most` commits readable, as far as the remote gives it. */
  readonly deepen: (most: number, stop: Stop) => Promise<void>;
  /** Ends the backoff: the next `resolve` contacts the remote at once. */
  readonly retryNow: () => void;
};

/** Which source is read. */
export type SourceOptions = Omit<SourceConfigOptions, "repository" | "isCommitted" | "shownRoot" | "before"> & {
  readonly limits: Limits;
  /** The folders of patch files. @default none */
  readonly patches?: PatchFolders;
  /** Null if the folder itself is read. */
  readonly commits: CommitSource | null;
  /** The ref that names the commit applied last, where nothing is compared with a base. @default none */
  readonly applied?: AppliedRef | null;
  /** The revision that was read before: of a new commit, only what differs is read. @default null */
  readonly before?: Revision | null;
  /** Whether no file counts, because nothing declares resources of its target any longer. @default false */
  readonly isRetired?: boolean;
  /** Whether the folder is read without a commit if git cannot read the repository or must not. @default false */
  readonly isCommitOptional?: boolean;
};

/** A source at one moment: it is read once as a whole, so that no pass mixes two states. */
export type Revision = RevisionFiles & {
  readonly config: SourceConfig;
  /** The branch of the work tree that was read; absent if HEAD is detached. */
  readonly branch?: string;
  /** The same with the policies among its files, for the read of the next commit; absent where it has none. */
  readonly asRead?: RevisionFiles;
};

/** What a configuration decides about reading the files. */
export type PreparedRead = {
  /** Files and folders that are not part of the source, such as the state folder. */
  readonly ignore: readonly string[];
  readonly knownFiles: KnownFiles;
  /** The branch that the checkout must be on, with nothing in progress; null if any state is accepted. */
  readonly ref: string | null;
};

/** The commit that a revision is compared with. */
export type ComparedBase = BaseCommit & {
  /** Files that could not be merged with it; in these, the revision has the version of this branch. */
  readonly conflicts: readonly (Conflict & { readonly display: string })[];
  /** Reads its files. */
  readonly read: () => Promise<RevisionFiles>;
  /** The commit that was applied last; null if no ref names one. */
  readonly applied: AppliedCommit | null;
  /** Reads the files of another commit. */
  readonly readCommit: (commit: string) => Promise<RevisionFiles>;
};

/** A source that was read. Its base can be read until it is disposed. */
export type SourceRead<Result extends PreparedRead> = Disposable & {
  readonly revision: Revision;
  readonly prepared: Result;
  /** Why the checkout is not ready at its branch; null if it is, or if no branch is required. */
  readonly checkoutFault: CheckoutFault | null;
  /** Null if the revision is not compared with a base. */
  readonly base: ComparedBase | null;
};

/**
 * Reads a source once as a whole: its configuration, and the files that it selects. `prepare` is called with the
 * configuration before any file is read. With a base to compare with, the revision is the result of merging the folder
 * with the base.
 */
export async function readSource<Result extends PreparedRead>(
  options: SourceOptions,
  prepare: (config: SourceConfig) => Promise<Result>,
  pace: Pace,
): Promise<SourceRead<Result>> {
  const { commits } = options;
  return commits === null ? readLinked(options, prepare, pace) : readCommitOf(commits, options, prepare, pace);
}

// The link to the source is followed once. If it was swapped while reading, the old folder may be partly deleted: read
// again.
async function readLinked<Result extends PreparedRead>(
  options: SourceOptions,
  prepare: (config: SourceConfig) => Promise<Result>,
  pace: Pace,
): Promise<SourceRead<Result>> {
  for (let reads = 1; reads <= MAX_READS; reads += 1) {
    const root = realRoot(options.root);
    const isSwapped = (): boolean => realRoot(options.root) !== root;
    try {
      const read = await readFrom({ ...options, root, ...shownAs(options, root) }, prepare, pace);
      if (!isSwapped()) return read;
      read[Symbol.dispose]();
    } catch (error) {
      if (!isSwapped()) throw error;
    }
  }
  throw new UnsettledSourceError("error", `${options.root} was swapped ${MAX_READS} times while it was read`, {
    hint: "run it again once it stays the same",
  });
}

// Reports use the name of the link, which does not change: a fault then has the same place in the next revision.
function shownAs({ root, cwd, base }: SourceOptions, real: string): { readonly shownRoot?: string } {
  const isNear = isAtOrBelow(cwd, real) || isAtOrBelow(real, cwd);
  return base !== null || (isNear && !isAtOrBelow(cwd, root)) ? {} : { shownRoot: root };
}

// The commit is read instead of a folder, as with `drift --base`. Its files are named as in the repository.
async function readCommitOf<Result extends PreparedRead>(
  { repository, resolve, onUnreadable }: CommitSource,
  options: SourceOptions,
  prepare: (config: SourceConfig) => Promise<Result>,
  pace: Pace,
): Promise<SourceRead<Result>> {
  const ref = await resolve(pace);
  try {
    const base = { ref, use: "instead" } as const;
    return await readFrom({ ...options, base, root: repository.gitFolder }, prepare, pace, repository);
  } catch (error) {
    // Faults in the content of a commit have other codes.
    if (!(error instanceof HoldfastError) || error.code === "error") onUnreadable();
    throw error;
  }
}

async function readFrom<Result extends PreparedRead>(
  options: SourceOptions & Pick<SourceConfigOptions, "shownRoot">,
  prepare: (config: SourceConfig) => Promise<Result>,
  pace: Pace,
  ours: Repository | null = null,
): Promise<SourceRead<Result>> {
  const { root, shownRoot = root, limits, base } = options;
  const cwd = ours === null ? options.cwd : root;
  using resources = new DisposableStack();
  const checkout = ours === null ? await openCheckout(options, resources, pace) : ownRepository(ours);
  const { repository, temporary, isUnreadable, isForeign, warnings } = checkout;
  const resolvedBase = temporary && base && (await resolveRequestedBase(temporary, base, pace));
  const isCommitted = ours !== null;
  const before = ours && options.before && base ? await compareWith(options.before, ours, base.ref, pace) : null;
  const config = await explainMissing(resolvedBase, () =>
    readSourceConfig(
      {
        ...options,
        base: base && withFork(base, resolvedBase),
        repository,
        isUnreadable,
        isForeign,
        isCommitted,
        before,
      },
      pace,
    ),
  );
  const prepared = await prepare(config);
  const { ignore, knownFiles, ref } = prepared;
  const { paths } = config.repository;
  const patches = { ...(options.patches ?? NO_FOLDERS), policies: config.policies.folders };
  const place = {
    root,
    shownRoot,
    cwd,
    limits,
    repository,
    isUnreadable,
    isForeign,
    ignore,
    knownFiles,
    patches,
    ...(paths ? { paths } : {}),
  };
  const read = options.isRetired
    ? { files: noFiles(root, base?.ref ?? null), base: null }
    : base !== null && resolvedBase === null
      ? { files: await readCommitFiles({ ...place, ref: base.ref, before, isOurs: isCommitted }, pace), base: null }
      : await readFiles(place, resolvedBase, pace);
  // Checked after reading, so that a git operation that began meanwhile is noticed.
  const fault =
    ref === null ? null : await checkoutFault({ root, branch: ref, commit: commitIn(read.files), checkout }, pace);
  const kept = resources.move();
  const asRead = withoutOtherPatches(read.files, patches);
  const own = withPoliciesApart(asRead, patches);
  const files = { ...own, diagnostics: [...warnings, ...own.diagnostics] };
  // A commit that was named is not read from a work tree, so it has no branch.
  const branch = repository === null || isCommitted || resolvedBase?.use === "instead" ? null : branchOf(repository);
  const revision = { ...files, config, ...(own === asRead ? {} : { asRead }), ...(branch === null ? {} : { branch }) };
  return { revision, prepared, checkoutFault: fault, base: read.base, [Symbol.dispose]: () => kept.dispose() };
}

function withFork(base: Base, resolved: ResolvedBase | null): Base {
  if (resolved?.use !== "compare" || resolved.found.behind === 0) return base;
  return { ...base, forkedAt: resolved.found.mergeBase };
}

function noFiles(root: string, commit: string | null): RevisionFiles {
  return { commit, at: 0, root, files: [], filesByPath: filesByPath([]), diagnostics: [], leftOut: new Map() };
}

// Computed once, for both the configuration and the files.
async function compareWith(
  revision: Revision,
  repository: Repository,
  commit: string,
  pace: Pace,
): Promise<ReadBefore | null> {
  const before = revision.commit;
  if (before === null) return null;
  const changes = before === commit ? [] : await diffTrees(repository, { before, commit }, pace);
  const { asRead = revision, config } = revision;
  return { files: asRead, paths: config.repository.paths, policies: config.policies.folders, config, changes };
}

type ReadBefore = CommitRead & { readonly config: SourceConfig };

function commitIn({ commit, changedSince }: RevisionFiles): string | null {
  return commit ?? changedSince?.commit ?? null;
}

/** The commit that the folder is compared with, or that is read instead of it. */
type ResolvedBase = { readonly repository: TemporaryRepository; readonly ref: string } & (
  | { readonly use: "instead"; readonly commit: string }
  | { readonly use: "compare"; readonly found: BaseCommit; readonly applied: AppliedCommit | null }
);

async function resolveRequestedBase(
  repository: TemporaryRepository,
  { ref, use, applied }: Base,
  pace: Pace,
): Promise<ResolvedBase> {
  if (use === "compare") {
    const found = await findBase(repository, ref, pace);
    return {
      repository,
      ref,
      use,
      found,
      applied: applied ? await findApplied(repository, applied, found, pace) : null,
    };
  }
  return { repository, ref, use, commit: await resolveBase(repository, ref, pace) };
}

type Read = { readonly files: RevisionFiles; readonly base: ComparedBase | null };

async function readFiles(
  place: FolderOptions & { readonly patches: PatchFolders },
  resolvedBase: ResolvedBase | null,
  pace: Pace,
): Promise<Read> {
  if (resolvedBase === null) return { files: await readFolder(place, pace), base: null };
  const readCommit = (commit: string): Promise<RevisionFiles> =>
    explainMissing(resolvedBase, async () =>
      withoutOtherPatches(await readCommitFiles({ ...place, ref: commit }, pace), place.patches),
    );
  const readApart = async (commit: string): Promise<RevisionFiles> =>
    withPoliciesApart(await readCommit(commit), place.patches);
  if (resolvedBase.use === "instead") return { files: await readCommit(resolvedBase.commit), base: null };
  const { found, repository, applied } = resolvedBase;
  const read = (): Promise<RevisionFiles> => readApart(found.commit);
  const folder = await readFolder(place, pace);
  if (found.behind === 0)
    return { files: folder, base: { ...found, conflicts: [], read, applied, readCommit: readApart } };
  const { isForeign = false } = place;
  const { commit, conflicts } = await mergeWithBase(repository, found, { ...folder, isForeign }, pace);
  const merged = await readCommit(commit);
  const unread = folder.diagnostics.filter(({ severity }) => severity === "error");
  const files = { ...merged, commit: null, diagnostics: [...unread, ...merged.diagnostics] };
  const shown = conflicts.map((conflict) => ({ ...conflict, display: displayOf(conflict, place, repository) }));
  return { files, base: { ...found, conflicts: shown, read, applied, readCommit: readApart } };
}

function displayOf({ path }: Conflict, { cwd }: FolderOptions, { top }: TemporaryRepository): string {
  return relativePath(realpathSync(cwd), join(top, path));
}

// Git fails in the same way if a repository is damaged and if a partial clone lacks an object.
async function explainMissing<Result>(resolvedBase: ResolvedBase | null, read: () => Promise<Result>): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    const isMissing = resolvedBase?.repository.isPartial && error instanceof HoldfastError && error.code === "error";
    throw isMissing ? missingObjects(resolvedBase.ref, error) : error;
  }
}
