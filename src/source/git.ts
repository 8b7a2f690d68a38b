import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { prefixIn, type Repository } from "./repository.ts";

/** Hash that a repository names its objects with. */
export type ObjectFormat = "sha1" | "sha256";

/** The commit that a checkout stands on, and the regular files below a folder of it. */
export type Head = {
  readonly commit: string;
  readonly format: ObjectFormat;
  /** Blob id by path relative to the folder. */
  readonly blobs: ReadonlyMap<string, string>;
};

/** One entry of a commit's tree. */
export type TreeEntry = {
  readonly mode: string;
  readonly blob: string;
  /** Not a number where git has not got the blob. */
  readonly size: number;
  /** Relative to the top of the repository. */
  readonly path: string;
};

/** A call that can be stopped. */
export type Stop = { readonly signal: AbortSignal };

// Only what is named here reaches git: no prompt, no transport, no system configuration, no locks, messages in English.
function environment(): Environment {
  const { PATH = "/usr/bin:/bin", HOME = "/nonexistent" } = process.env;
  return {
    PATH,
    HOME,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

type Environment = { readonly [name: string]: string };

/** The environment of every call about a repository: git is told where it is, and searches for none itself. */
export function environmentOf({ top, gitFolder, commonFolder, isTemporary }: Repository): Environment {
  return {
    ...environment(),
    // Nobody's configuration is there.
    ...(isTemporary ? { HOME: gitFolder, GIT_ATTR_NOSYSTEM: "1" } : {}),
    GIT_DIR: gitFolder,
    GIT_COMMON_DIR: commonFolder,
    ...(top === null ? {} : { GIT_WORK_TREE: top }),
    // The repository's own configuration could name a program here.
    ...configured({ "core.fsmonitor": "false", "safe.bareRepository": "explicit" }),
  };
}

// Settings that overrule every configuration file.
function configured(settings: { readonly [key: string]: string }): Environment {
  const pairs = Object.entries(settings).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: `${pairs.length / 2}`, ...Object.fromEntries(pairs) };
}

function folderOf({ top, gitFolder }: Repository): string {
  return top ?? gitFolder;
}

function gitOf(repository: Repository, args: readonly string[], stop: Stop): Promise<string> {
  return gitAt(folderOf(repository), environmentOf(repository), args, stop);
}

async function gitAt(folder: string, env: Environment, args: readonly string[], { signal }: Stop): Promise<string> {
  // A source outside of any repository does without.
  const { simpleGit } = await import("simple-git");
  const git = simpleGit({
    baseDir: folder,
    abort: signal,
    trimmed: false,
    allowEnvironment: Object.keys(env),
    // The keys and values are the constants above.
    unsafe: { allowUnsafeConfigEnvCount: true, allowUnsafeFsMonitor: true },
    // Without this, a failure that prints nothing would pass for an empty answer.
    errors: (error, { exitCode, stdErr }) => {
      const said = Buffer.concat(stdErr).toString("utf8");
      if (exitCode === 0 && !said.includes("is ambiguous")) return undefined;
      return error ?? new Error(said === "" ? `git ended with ${exitCode}` : said);
    },
  }).env(env);
  return git.raw(...args);
}

/** Whether git takes another user's repository at this folder, since `safe.directory` names it. */
export async function acceptsOwner(folder: string, stop: Stop): Promise<boolean> {
  // Git asks who owns it only where it searches itself; it must find what lies here, and nothing further up.
  const found = { GIT_CEILING_DIRECTORIES: dirname(folder), ...configured({ "safe.bareRepository": "all" }) };
  try {
    await gitAt(folder, { ...environment(), ...found }, ["rev-parse", "--git-dir"], stop);
    return true;
  } catch (error) {
    stop.signal.throwIfAborted();
    // Where git is not there, nothing is taken from the repository.
    return isMissing(error);
  }
}

/** The head of a checkout, and what it has below a folder; null where there is none, and where git itself is not there. */
export async function headOf(repository: Repository, folder: string, stop: Stop): Promise<Head | null> {
  const commit = await headCommit(repository, stop);
  if (commit === null) return null;
  const prefix = prefixIn(repository, folder);
  const blobs = new Map<string, string>();
  // Without the sizes, a partial clone needs to have none of the files that are not checked out.
  for (const { mode, blob, path } of await listTree(repository, commit, stop, { withSizes: false })) {
    if (mode.startsWith("100") && path.startsWith(prefix)) blobs.set(path.slice(prefix.length), blob);
  }
  return { commit, format: commit.length === 64 ? "sha256" : "sha1", blobs };
}

/** The commit that a checkout stands on; null where there is none. */
export async function headCommit(repository: Repository, stop: Stop): Promise<string | null> {
  try {
    return (await gitOf(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], stop)).trim() || null;
  } catch {
    stop.signal.throwIfAborted();
    return null;
  }
}

// What may be in the name of a commit: no option, no range, no path, nothing a shell or git reads as syntax.
const REF = /^(?!-)(?!.*(?:\.\.|@\{|\/\/))[\w./@+#=-]{1,250}(?:[~^]\d{0,6}){0,8}$/;

/** Whether a text may be the name of a commit, and nothing else to git. */
export function isCommitName(ref: string): boolean {
  return REF.test(ref);
}

/** The full id of the commit that a name stands for. */
export async function resolveCommit(repository: Repository, ref: string, stop: Stop): Promise<string> {
  if (!isCommitName(ref)) throw noCommit(ref, "A commit is named by its id, a branch or a tag.");
  try {
    return (await gitOf(repository, ["rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`], stop)).trim();
  } catch (error) {
    stop.signal.throwIfAborted();
    const said = messageOf(error);
    if (said.includes("is ambiguous")) throw ambiguous(ref);
    if (isNoRepository(said) || isMissing(error)) throw failure(repository, error);
    throw noCommit(ref, `Is it spelled right, and fetched? Try git fetch origin ${ref.replace(/^origin\//, "")}.`);
  }
}

/** Whether the index of a checkout has a path, or anything below it; relative to its top. */
export async function isTracked(repository: Repository, path: string, stop: Stop): Promise<boolean> {
  const command = ["--literal-pathspecs", "ls-files", "--error-unmatch", "--cached", "-z", "--", path];
  try {
    // An answer without a word would be waited for 50 ms longer.
    await gitOf(repository, command, stop);
    return true;
  } catch (error) {
    stop.signal.throwIfAborted();
    const said = messageOf(error);
    if (said.includes("did not match any file")) return false;
    if (!isNoRepository(said)) throw failure(repository, error);
    // What only looks like a repository tracks nothing; one that lies elsewhere, and cannot be reached, may.
    if (repository.gitFolder === join(folderOf(repository), ".git")) return false;
    throw new HoldfastError("error", "the repository of the checkout cannot be reached", { cause: error });
  }
}

/** Every entry of a commit's whole tree, or at some paths in it, by full commit id; without sizes all of them are 0. */
export async function listTree(
  repository: Repository,
  commit: string,
  stop: Stop,
  { withSizes = true, paths = [] }: { readonly withSizes?: boolean; readonly paths?: readonly string[] } = {},
): Promise<readonly TreeEntry[]> {
  try {
    const options = ["-r", "-z", ...(withSizes ? ["-l"] : []), "--full-tree"];
    const args = ["--literal-pathspecs", "ls-tree", ...options, commit, "--", ...paths];
    const listing = await gitOf(repository, args, stop);
    return listing.split("\0").flatMap(readEntry);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw failure(repository, error);
  }
}

/** A path that is another in a later commit than in an earlier one. */
export type TreeChange = {
  /** As in the later one. */
  readonly path: string;
  readonly blob: string;
  /** Whether it is a regular file in both, with another content. */
  readonly isContent: boolean;
};

/** What differs between the trees of two commits; null where git cannot compare them. */
export async function diffTrees(
  repository: Repository,
  { before, commit }: { readonly before: string; readonly commit: string },
  stop: Stop,
): Promise<readonly TreeChange[] | null> {
  try {
    const options = ["-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
    const words = (await gitOf(repository, ["diff-tree", ...options, before, commit], stop)).split("\0");
    return words.flatMap((word, index) =>
      word.startsWith(":") && index % 2 === 0 ? changeOf(word, words[index + 1]) : [],
    );
  } catch {
    stop.signal.throwIfAborted();
    return null;
  }
}

// `:100644 100644 <before> <after> M`, and the path behind it.
function changeOf(word: string, path = ""): readonly TreeChange[] {
  const [before = "", mode = "", , blob = "", status = ""] = word.slice(1).split(" ");
  return [{ path, blob, isContent: status === "M" && before.startsWith("100") && mode.startsWith("100") }];
}

function readEntry(line: string): readonly TreeEntry[] {
  const tab = line.indexOf("\t");
  const [mode = "", , blob = "", size = "-"] = line.slice(0, Math.max(0, tab)).split(/ +/);
  return tab < 0 ? [] : [{ mode, blob, size: size === "-" ? 0 : Number(size), path: line.slice(tab + 1) }];
}

/** The id under which git would keep the bytes as a file. */
export function blobId(bytes: Uint8Array, format: ObjectFormat): string {
  return createHash(format).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** The content of each blob, in the order asked for. */
export async function readBlobs(
  repository: Repository,
  blobs: readonly string[],
  { signal }: Stop,
): Promise<readonly Uint8Array[]> {
  if (blobs.length === 0) return [];
  const child = spawn("git", ["cat-file", "--batch"], {
    cwd: folderOf(repository),
    env: environmentOf(repository),
    signal,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  // The answer is awaited below; until then a failure must not count as unhandled.
  ended.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  child.stderr.resume();
  child.stdin.end(`${blobs.join("\n")}\n`);
  const { contents, add } = blobCollector(blobs.length);
  for await (const part of child.stdout as AsyncIterable<Buffer>) add(part);
  const code = await ended;
  if (code !== 0 || contents.length !== blobs.length) throw unreadableBlobs();
  return contents;
}

/** The same, for whoever cannot wait. */
export function readBlobsNow(repository: Repository, blobs: readonly string[]): readonly Uint8Array[] {
  const { status, stdout } = spawnSync("git", ["cat-file", "--batch"], {
    cwd: folderOf(repository),
    env: environmentOf(repository),
    input: `${blobs.join("\n")}\n`,
    maxBuffer: Number.POSITIVE_INFINITY,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const take = blobCollector(blobs.length);
  take.add(stdout);
  if (status !== 0 || take.contents.length !== blobs.length) throw unreadableBlobs();
  return take.contents;
}

// Each answer is `<id> <type> <size>`, a line feed, the content, a line feed.
function blobCollector(count: number) {
  const contents: Uint8Array[] = [];
  let header = "";
  let body: { readonly bytes: Uint8Array; filled: number } | null = null;
  let isBroken = false;
  const add = (part: Buffer): void => {
    let at = 0;
    while (at < part.length && contents.length < count && !isBroken) {
      if (body === null) {
        const end = part.indexOf(0x0a, at);
        header += part.toString("latin1", at, end < 0 ? part.length : end);
        at = end < 0 ? part.length : end + 1;
        if (end < 0) continue;
        const size = /^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1];
        isBroken = size === undefined;
        if (isBroken) return;
        header = "";
        body = { bytes: Buffer.allocUnsafeSlow(Number(size) + 1), filled: 0 };
      }
      const taken = part.subarray(at, at + body.bytes.length - body.filled);
      body.bytes.set(taken, body.filled);
      body.filled += taken.length;
      at += taken.length;
      if (body.filled < body.bytes.length) continue;
      contents.push(body.bytes.subarray(0, -1));
      body = null;
    }
  };
  return { contents, add };
}

function unreadableBlobs(): HoldfastError {
  return new HoldfastError("error", "git could not read the files of the commit", {
    hint: "Check the repository with `git fsck`.",
  });
}

/** The first bytes of a large blob, without reading the rest. */
export async function readBlobHead(
  repository: Repository,
  blob: string,
  length: number,
  { signal }: Stop,
): Promise<Uint8Array> {
  const child = spawn("git", ["cat-file", "blob", blob], {
    cwd: folderOf(repository),
    env: environmentOf(repository),
    signal,
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.once("error", () => undefined);
  const parts: Buffer[] = [];
  let total = 0;
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    parts.push(part);
    total += part.length;
    if (total >= length) break;
  }
  child.kill();
  return Buffer.concat(parts).subarray(0, length);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// What git itself says begins otherwise, whatever a folder is called.
const isMissing = (error: unknown) => messageOf(error).startsWith("Error: spawn git ENOENT");

const isNoRepository = (said: string) => said.includes("not a git repository");

function ambiguous(ref: string): HoldfastError {
  return new HoldfastError("invalid", `${JSON.stringify(ref)} names more than one commit here`, {
    hint: "Write refs/heads/… or refs/tags/… in full, or more of the commit's id.",
  });
}

function noCommit(ref: string, hint: string): HoldfastError {
  return new HoldfastError("invalid", `${JSON.stringify(ref)} names no commit of this repository`, { hint });
}

function failure(repository: Repository, cause: unknown): HoldfastError {
  const said = messageOf(cause);
  if (isNoRepository(said)) return noRepository(folderOf(repository), cause);
  if (isMissing(cause)) return new HoldfastError("error", "git is not installed, or not in PATH", { cause });
  return new HoldfastError("error", "git failed", { hint: "Run `git status` in the source to see why.", cause });
}

/** What to say where a repository is needed and there is none. */
export function noRepository(folder: string, cause?: unknown): HoldfastError {
  return new HoldfastError("invalid", `${folder} is in no git repository`, {
    hint: "--base and git sources need one.",
    cause,
  });
}
