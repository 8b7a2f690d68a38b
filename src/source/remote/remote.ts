// src/source/remote: repositories that a daemon follows. See docs/pod.md#sources.

import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Stop } from "../../clock/clock.ts";
import { objectFormatOf } from "../git/git.ts";
import type { Repository } from "../git/repository-paths.ts";
import { shareCommitReads } from "../git/share-commit-reads.ts";
import { SourceError } from "../source-error.ts";
import type { RemoteAddress } from "./address.ts";
import {
  clearRepository,
  followedRef,
  followRef,
  lockRepository,
  prepareRepository,
  readRefFile,
  writeRefFile,
} from "./bare-repository.ts";
import { chooseRef, isCommitId, noDefaultBranch, patternsFor, type RemoteRef } from "./choose-ref.ts";
import { sourceFailure } from "./classify-failure.ts";
import { type CredentialPlaces, readCredentials } from "./credentials.ts";
import { localEnvironment, remoteEnvironment } from "./git-environment.ts";
import { type GitResult, runGit } from "./run-git.ts";

/** A remote git repository, and how it is reached. */
export type RemoteAccess = {
  readonly name: string;
  readonly address: RemoteAddress;
  readonly credentials: Omit<CredentialPlaces, "source">;
  readonly caFile: string | null;
  readonly knownHosts: string | null;
  readonly env: { readonly [name: string]: string | undefined };
};

/** A remote git repository, and our bare repository that follows it. */
export type RemoteOptions = RemoteAccess & {
  readonly clock: Clock;
  /** The folder of our bare repository; nothing else uses it. */
  readonly folder: string;
  /** Branch, tag or commit; null for the remote's default branch. */
  readonly ref: string | null;
  /** Limit of the objects on disk, in bytes. @default 2 GiB */
  readonly maxBytes?: number;
  /** Longest time for one fetch, in milliseconds. @default 10 minutes */
  readonly maxMs?: number;
};

/** The result of a fetch. */
export type Fetched = {
  readonly commit: string;
  /** The commit of the previous fetch; null on the first. */
  readonly before: string | null;
  /** `switched`: the source follows another ref now. `rewritten`: the previous commit is not an ancestor of this one. */
  readonly change: "first" | "unchanged" | "switched" | "forward" | "rewritten";
};

/** A remote that is followed. */
export type Remote = {
  readonly name: string;
  readonly ref: string | null;
  readonly repository: Repository;
  /** Fetches the current commit of the ref; concurrent calls share one fetch. Fails with a `SourceError`. */
  readonly fetch: (stop: Stop) => Promise<Fetched>;
  /** The commits after `after`, or from the first one, up to and including `upTo`, oldest first; at most the newest 10,000. */
  readonly between: (after: string | null, upTo: string, stop: Stop) => Promise<readonly string[]>;
  /** Stores a commit under a ref of ours, so that git keeps its objects. */
  readonly keep: (name: string, commit: string, stop: Stop) => Promise<void>;
  /** The commit that `keep` stored under this name; null if there is none. */
  readonly kept: (name: string, stop: Stop) => Promise<string | null>;
  /** Whether a commit can be read; it is fetched by its id if its objects are missing and the remote gives them. */
  readonly has: (commit: string, stop: Stop) => Promise<boolean>;
  /**
   * Fetches the history before the current commit, up to `most` commits, once; where the remote does not give it in
   * time, less of it is known.
   */
  readonly deepen: (most: number, stop: Stop) => Promise<void>;
  /** Makes the next fetch start from scratch, because objects are unreadable. */
  readonly discard: () => void;
};

const HEAD = "refs/holdfast/head";
const PACKS = join("objects", "pack");
const MAX_BYTES = 2 * 1024 ** 3;
const MAX_MS = 10 * 60_000;
/** The first pass waits for the history. */
const MAX_DEEPEN_MS = 30_000;
/** Beyond this number of packs git joins them (`gc.autoPackLimit`). */
const MAX_PACKS = 50;
/** The interval for checking the size of a running fetch. */
const SIZE_CHECK_MS = 250;

/** Creates a remote; nothing is fetched yet. */
export function createRemote(options: RemoteOptions): Remote {
  const { name, folder, ref, clock } = options;
  let running: Promise<Fetched> | null = null;
  let isDiscarded = false;
  let isDeepened = false;
  const repository = shareCommitReads({ top: null, gitFolder: folder, commonFolder: folder }, clock);
  const clear = (): void => {
    repository.reads?.release();
    clearRepository(folder);
  };
  const lockAndFetch = async (stop: Stop): Promise<Fetched> => {
    await using _lock = await lockRepository(folder, { clock, ...stop });
    if (isDiscarded) clear();
    isDiscarded = false;
    try {
      return await fetchOnce(options, stop);
    } catch (error) {
      // Our repository may be damaged: retry once from scratch. An error of the remote itself is not retried.
      if (!(error instanceof SourceError) || !["ContentRefused", "FetchFailed"].includes(error.reason)) throw error;
      clear();
      return fetchOnce(options, stop);
    }
  };
  return {
    name,
    ref,
    repository,
    between: async (after, upTo, { signal }) => {
      const args = ["rev-list", "--first-parent", "--max-count=10000", after === null ? upTo : `${after}..${upTo}`];
      const { code, stdout } = await runGit(args, { folder, env: localEnvironment(folder), signal });
      return code === 0 ? stdout.split("\n").filter(Boolean).toReversed() : [];
    },
    keep: async (target, commit, stop) => {
      await using _lock = await lockRepository(folder, { clock, ...stop });
      writeRefFile(folder, keptRef(target), commit);
    },
    kept: (target, stop) => commitAt(folder, keptRef(target), stop),
    has: async (commit, stop) => {
      if ((await commitAt(folder, commit, stop)) !== null) return true;
      if (!existsSync(folder)) return false;
      await using _lock = await lockRepository(folder, { clock, ...stop });
      await fetchCommit(options, commit, stop);
      return (await commitAt(folder, commit, stop)) !== null;
    },
    deepen: async (most, stop) => {
      if (isDeepened || !existsSync(join(folder, "shallow"))) return;
      isDeepened = true;
      await using _lock = await lockRepository(folder, { clock, ...stop });
      await deepen(options, most, stop);
      repository.reads?.release();
    },
    discard: () => {
      isDiscarded = true;
    },
    fetch: (stop) => {
      running ??= lockAndFetch(stop).finally(() => {
        running = null;
      });
      return running;
    },
  };
}

const keptRef = (name: string) => `refs/holdfast/kept/${name}`;

async function fetchOnce(options: RemoteOptions, stop: Stop): Promise<Fetched> {
  const { name, folder } = options;
  const wanted = await resolveRef(options, stop);
  await prepareRepository(folder, objectFormatOf(wanted.id), stop);
  const before = readRefFile(folder, HEAD);
  const isSameRef = (followedRef(folder) ?? wanted.name) === wanted.name;
  if (before === wanted.id) {
    followRef(folder, wanted.name);
    return { commit: before, before, change: "unchanged" };
  }
  const depth = before === null ? ["--depth=1"] : ["--update-shallow", "--show-forced-updates"];
  const packs = packsIn(folder);
  const args = ["fetch", ...FETCH_FLAGS, ...depth, "--", options.address.url, `+${wanted.name}:${HEAD}`];
  const { code, stderr } = await limited(options, stop, args).catch((error: unknown) => {
    dropPartialFetch(folder, { before, packs }, error);
    throw error;
  });
  if (code !== 0) throw sourceFailure(name, stderr);
  const change = isBranch(wanted) ? changeIn(stderr) : null;
  const commit = change === null ? await commitAt(folder, HEAD, stop) : readRefFile(folder, HEAD);
  if (commit === null) {
    dropHead(folder, before);
    throw noCommit(options, wanted);
  }
  // For an annotated tag, its commit is stored: the next fetch can compare it without running git.
  if (change === null) writeRefFile(folder, HEAD, commit);
  followRef(folder, wanted.name);
  if (before === null) return { commit, before, change: "first" };
  await packMany(folder, stop);
  if (commit === before) return { commit, before, change: "unchanged" };
  // Another ref has a history of its own.
  if (!isSameRef) return { commit, before, change: "switched" };
  return { commit, before, change: change ?? (await changeBetween(folder, before, commit, stop)) };
}

const FETCH_FLAGS = ["--no-tags", "--no-auto-gc", "--no-write-fetch-head", "--no-recurse-submodules"];

// No ref moves: only what lies before the commits that are here already is fetched.
async function deepen(options: RemoteOptions, most: number, stop: Stop): Promise<void> {
  const { folder, address, maxMs = MAX_MS } = options;
  const [before, followed, packs] = [readRefFile(folder, HEAD), followedRef(folder), packsIn(folder)];
  if (before === null || followed === null) return;
  const args = ["fetch", ...FETCH_FLAGS, `--deepen=${most}`, "--", address.url, followed];
  try {
    await limited({ ...options, maxMs: Math.min(maxMs, MAX_DEEPEN_MS) }, stop, args);
  } catch (error) {
    stop.signal.throwIfAborted();
    dropPartialFetch(folder, { before, packs }, error);
  }
}

// Servers give a commit by its id if a branch contains it; where one does not, the commit stays unknown.
async function fetchCommit(options: RemoteOptions, commit: string, stop: Stop): Promise<void> {
  const before = packsIn(options.folder);
  const args = ["fetch", ...FETCH_FLAGS, "--depth=1", "--no-write-fetch-head", "--", options.address.url, commit];
  try {
    await limited({ ...options, maxMs: MAX_DEEPEN_MS }, stop, args);
  } catch (error) {
    stop.signal.throwIfAborted();
    dropPartialFetch(options.folder, { before: readRefFile(options.folder, HEAD), packs: before }, error);
  }
}

// A branch names a commit; a tag may name another tag, or a file.
const isBranch = ({ name }: RemoteRef) => name === "HEAD" || name.startsWith("refs/heads/");

// `   1f0c9ab..4960e06  main -> …`, or ` + 1f0c9ab...4960e06 main -> …`; lines of the remote begin with `remote:`.
function changeIn(stderr: string): "forward" | "rewritten" | null {
  const [, forced, dots] = /^ ( |\+) [0-9a-f]+(\.{2,3})[0-9a-f]+ /m.exec(stderr) ?? [];
  if (dots === undefined) return null;
  return forced === "+" ? "rewritten" : "forward";
}

async function packMany(folder: string, stop: Stop): Promise<void> {
  const packs = packsIn(folder).filter((file) => file.endsWith(".pack"));
  if (packs.length > MAX_PACKS)
    await runGit(["gc", "--auto", "--quiet"], { folder, env: localEnvironment(folder), ...stop });
}

// Objects of earlier fetches stay, since the last applied revision is read from them.
function dropPartialFetch(
  folder: string,
  { before, packs }: { readonly before: string | null; readonly packs: readonly string[] },
  error: unknown,
): void {
  if (!(error instanceof SourceError)) return;
  for (const file of before === null ? [] : packsIn(folder)) {
    if (!packs.includes(file)) rmSync(join(folder, PACKS, file), { force: true });
  }
  dropHead(folder, before);
}

// Without the previous commit, the next fetch would start from scratch and not know the commits in between.
function dropHead(folder: string, before: string | null): void {
  if (before === null) clearRepository(folder);
  else writeRefFile(folder, HEAD, before);
}

async function resolveRef(options: RemoteOptions, stop: Stop): Promise<RemoteRef> {
  const { name, ref, address } = options;
  if (ref !== null && isCommitId(ref)) return { name: ref, id: ref };
  const list = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await limited(options, stop, ["ls-remote", "--quiet", ...args]);
    if (code !== 0) throw sourceFailure(name, stderr);
    return stdout;
  };
  const listing = await list("--", address.url, ...patternsFor(ref));
  if (ref === null && listing === "" && (await list("--heads", "--", address.url)) !== "") throw noDefaultBranch(name);
  return chooseRef(name, ref, listing);
}

// Limited in time and size: a remote may be unexpectedly large, or never finish.
async function limited(options: RemoteOptions, { signal }: Stop, args: readonly string[]): Promise<GitResult> {
  const { name, folder, clock, maxMs = MAX_MS, maxBytes = MAX_BYTES } = options;
  const limit = new AbortController();
  const env = remoteEnvironment(folder, {
    ...options,
    credentials: readCredentials({ source: name, ...options.credentials }),
  });
  const checkSize = (): void => {
    if (sizeOf(folder) > maxBytes) limit.abort(tooLarge(name, maxBytes));
  };
  using _time = clock.after(maxMs, () => limit.abort(tooSlow(name, maxMs)));
  using _size = clock.every(SIZE_CHECK_MS, checkSize);
  const result = await runGit(args, { folder, env, signal: AbortSignal.any([signal, limit.signal]) });
  if (result.isTooMuch) throw tooTalkative(name);
  // A fetch may end before the first size check.
  if (sizeOf(folder) > maxBytes) throw tooLarge(name, maxBytes);
  return result;
}

function sizeOf(folder: string): number {
  const sizes = packsIn(folder).map(
    (file) => statSync(join(folder, PACKS, file), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function packsIn(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, PACKS));
  } catch {
    // Nothing was fetched yet.
    return [];
  }
}

/** The commit that a ref of a bare repository of ours names; null if there is none. */
async function commitAt(folder: string, ref: string, stop: Stop): Promise<string | null> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${ref}^{commit}`];
  const { code, stdout } = await runGit(args, { folder, env: localEnvironment(folder), ...stop });
  return code === 0 ? stdout.trim() : null;
}

async function changeBetween(
  folder: string,
  older: string,
  newer: string,
  stop: Stop,
): Promise<"forward" | "rewritten"> {
  const args = ["merge-base", "--is-ancestor", older, newer];
  const { code } = await runGit(args, { folder, env: localEnvironment(folder), ...stop });
  return code === 0 ? "forward" : "rewritten";
}

function noCommit({ name, ref }: RemoteOptions, { name: found }: RemoteRef): SourceError {
  return new SourceError("NotACommit", `source ${name}: ${found} names no commit`, {
    hint: `${ref ?? "HEAD"} must be a branch, a tag of a commit, or a commit`,
  });
}

function tooSlow(name: string, maxMs: number): SourceError {
  return new SourceError("Unreachable", `source ${name}: the fetch took longer than ${maxMs / 1000} s`, {
    hint: "the partial fetch was dropped; the fetch is retried",
  });
}

function tooTalkative(name: string): SourceError {
  return new SourceError("TooLarge", `source ${name}: the remote sent messages or names of refs without end`, {
    hint: "check the host of the repository; what it sent was dropped",
  });
}

function tooLarge(name: string, maxBytes: number): SourceError {
  return new SourceError(
    "TooLarge",
    `source ${name}: the repository is larger than ${Math.round(maxBytes / 1024 ** 2)} MiB`,
    {
      hint: "follow a smaller repository, or take large files out of this one's history",
    },
  );
}
