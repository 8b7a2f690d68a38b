import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { objectFormatOf } from "../git/git.ts";
import type { Repository } from "../git/repository-paths.ts";
import { SourceError } from "../source-error.ts";
import type { RemoteAddress } from "./address.ts";
import { clearRepository, lockRepository, prepareRepository, readRefFile, writeRefFile } from "./bare-repository.ts";
import { chooseRef, isCommitId, patternsFor, type RemoteRef } from "./choose-ref.ts";
import { sourceFailure } from "./classify-failure.ts";
import { type CredentialPlaces, readCredentials } from "./credentials.ts";
import { localEnvironment, remoteEnvironment } from "./git-environment.ts";
import { type GitResult, runGit } from "./run-git.ts";

/** A git repository elsewhere, and the bare one of ours that follows it. */
export type RemoteOptions = {
  readonly name: string;
  /** The bare repository's folder, which is ours alone. */
  readonly folder: string;
  readonly address: RemoteAddress;
  /** Branch, tag or commit; null for the remote's default branch. */
  readonly ref: string | null;
  readonly credentials: Omit<CredentialPlaces, "source">;
  readonly caFile: string | null;
  readonly knownHosts: string | null;
  readonly env: { readonly [name: string]: string | undefined };
  /** Bytes that the objects may take on disk. @default 2 GiB */
  readonly maxBytes?: number;
  /** Longest time for one fetch, in milliseconds. @default 10 minutes */
  readonly maxMs?: number;
};

/** What a fetch found. */
export type Fetched = {
  readonly commit: string;
  /** The commit that the fetch before this one found; null at the first. */
  readonly before: string | null;
  /** `rewritten`: the commit before is no ancestor of this one. */
  readonly change: "first" | "unchanged" | "forward" | "rewritten";
};

/** A remote that is followed. */
export type Remote = {
  readonly name: string;
  readonly ref: string | null;
  readonly repository: Repository;
  /** Fetches what the ref names now; calls at the same time share one fetch. Fails with a `SourceError`. */
  readonly fetch: (stop: Stop) => Promise<Fetched>;
  /** The commits after one, up to and with another, oldest first; the newest 10,000 of them. */
  readonly between: (after: string, upTo: string, stop: Stop) => Promise<readonly string[]>;
  /** Keeps a commit under a name of ours, so that its objects stay. */
  readonly keep: (name: string, commit: string, stop: Stop) => Promise<void>;
  /** The commit that is kept under a name of ours; null where there is none. */
  readonly kept: (name: string, stop: Stop) => Promise<string | null>;
  /** Lets the next fetch begin anew, since objects turned out to be unreadable. */
  readonly discard: () => void;
};

type Stop = { readonly signal: AbortSignal };

const HEAD = "refs/holdfast/head";
const PACKS = join("objects", "pack");
const MAX_BYTES = 2 * 1024 ** 3;
const MAX_MS = 10 * 60_000;
/** Beyond so many packs git joins them (`gc.autoPackLimit`). */
const MAX_PACKS = 50;
/** How often the size of what arrives is looked at. */
const SIZE_CHECK_MS = 250;

/** A remote that nothing was fetched of yet. */
export function createRemote(options: RemoteOptions): Remote {
  const { name, folder, ref } = options;
  let running: Promise<Fetched> | null = null;
  let isDiscarded = false;
  const fetchAnew = async (stop: Stop): Promise<Fetched> => {
    await using _lock = await lockRepository(folder, stop);
    if (isDiscarded) clearRepository(folder);
    isDiscarded = false;
    try {
      return await fetchOnce(options, stop);
    } catch (error) {
      // A damaged repository of ours is worth one clean start; whatever the remote itself refuses is not.
      if (!(error instanceof SourceError) || !["ContentRefused", "FetchFailed"].includes(error.reason)) throw error;
      clearRepository(folder);
      return fetchOnce(options, stop);
    }
  };
  return {
    name,
    ref,
    repository: { top: null, gitFolder: folder, commonFolder: folder },
    between: async (after, upTo, { signal }) => {
      const args = ["rev-list", "--first-parent", "--max-count=10000", `${after}..${upTo}`];
      const { code, stdout } = await runGit(args, { folder, env: localEnvironment(folder), signal });
      return code === 0 ? stdout.split("\n").filter(Boolean).toReversed() : [];
    },
    keep: async (target, commit, stop) => {
      await using _lock = await lockRepository(folder, stop);
      writeRefFile(folder, keptRef(target), commit);
    },
    kept: (target, stop) => commitAt(folder, keptRef(target), stop),
    discard: () => {
      isDiscarded = true;
    },
    fetch: (stop) => {
      running ??= fetchAnew(stop).finally(() => {
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
  if (before === wanted.id) return { commit: before, before, change: "unchanged" };
  const depth = before === null ? ["--depth=1"] : ["--update-shallow", "--show-forced-updates"];
  const flags = ["--no-tags", "--no-auto-gc", "--no-write-fetch-head", "--no-recurse-submodules", ...depth];
  const packs = packsIn(folder);
  const args = ["fetch", ...flags, "--", options.address.url, `+${wanted.name}:${HEAD}`];
  const { code, stderr } = await limited(options, stop, args).catch((error: unknown) => {
    dropArrived(folder, { before, packs }, error);
    throw error;
  });
  if (code !== 0) throw sourceFailure(name, stderr);
  const change = isBranch(wanted) ? changeIn(stderr) : null;
  const commit = change === null ? await commitAt(folder, HEAD, stop) : readRefFile(folder, HEAD);
  if (commit === null) {
    dropHead(folder, before);
    throw noCommit(options, wanted);
  }
  // The commit itself, where a tag of it was fetched: then whether it has moved shows without git.
  if (change === null) writeRefFile(folder, HEAD, commit);
  if (before === null) return { commit, before, change: "first" };
  await packMany(folder, stop);
  if (commit === before) return { commit, before, change: "unchanged" };
  return { commit, before, change: change ?? (await changeBetween(folder, before, commit, stop)) };
}

// What a branch names is a commit; a tag may name another tag, or a file.
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

// What was fetched earlier stays, since the last good revision is read from it.
function dropArrived(
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

// Without the commit before, the next fetch would begin anew, and not know what lies between.
function dropHead(folder: string, before: string | null): void {
  if (before === null) clearRepository(folder);
  else writeRefFile(folder, HEAD, before);
}

async function resolveRef(options: RemoteOptions, stop: Stop): Promise<RemoteRef> {
  const { name, ref, address } = options;
  if (ref !== null && isCommitId(ref)) return { name: ref, id: ref };
  const { code, stdout, stderr } = await limited(options, stop, [
    "ls-remote",
    "--quiet",
    "--",
    address.url,
    ...patternsFor(ref),
  ]);
  if (code !== 0) throw sourceFailure(name, stderr);
  return chooseRef(name, ref, stdout);
}

// Bounded in time and in size: a remote may be far larger than anybody thought, or never end.
async function limited(options: RemoteOptions, { signal }: Stop, args: readonly string[]): Promise<GitResult> {
  const { name, folder, maxMs = MAX_MS, maxBytes = MAX_BYTES } = options;
  const cut = new AbortController();
  const env = remoteEnvironment(folder, {
    ...options,
    credentials: readCredentials({ source: name, ...options.credentials }),
  });
  const timer = setTimeout(() => cut.abort(tooSlow(name, maxMs)), maxMs);
  const sizing = setInterval(() => {
    if (sizeOf(folder) > maxBytes) cut.abort(tooLarge(name, maxBytes));
  }, SIZE_CHECK_MS);
  try {
    const result = await runGit(args, { folder, env, signal: AbortSignal.any([signal, cut.signal]) });
    // A fetch may end before its size was looked at.
    if (sizeOf(folder) > maxBytes) throw tooLarge(name, maxBytes);
    return result;
  } finally {
    clearTimeout(timer);
    clearInterval(sizing);
  }
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
    // Nothing has arrived yet.
    return [];
  }
}

/** The commit that a name of a bare repository of ours stands for; null where there is none. */
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
    hint: "what had arrived was dropped; it is tried again",
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
