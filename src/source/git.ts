import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { type SimpleGit, simpleGit } from "simple-git";
import { HoldfastError } from "../core/errors.ts";
import { checkoutTop } from "./outer.ts";

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
  readonly size: number;
  /** Relative to the top of the repository. */
  readonly path: string;
};

/** A call that can be stopped. */
export type Stop = { readonly signal: AbortSignal };

// Only what is named here reaches git: no prompt, no transport, no system configuration, no locks, messages in English.
function environment(): { readonly [name: string]: string } {
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

const GUARDED = Object.keys(environment()).filter((name) => name.startsWith("GIT_"));

function gitAt(folder: string, { signal }: Stop): SimpleGit {
  return simpleGit({
    baseDir: folder,
    abort: signal,
    trimmed: false,
    allowEnvironment: GUARDED,
    // Without this, a failure that prints nothing would pass for an empty answer.
    errors: (error, { exitCode, stdErr }) => {
      const said = Buffer.concat(stdErr).toString("utf8");
      if (exitCode === 0 && !said.includes("is ambiguous")) return undefined;
      return error ?? new Error(said === "" ? `git ended with ${exitCode}` : said);
    },
  }).env(environment());
}

/** The head of the checkout that holds the folder; null outside of one, and where git itself is not there. */
export async function headOf(folder: string, stop: Stop): Promise<Head | null> {
  if (checkoutTop(folder) === null) return null;
  const commit = await headCommit(folder, stop);
  if (commit === null) return null;
  const prefix = await prefixOf(folder, stop);
  const blobs = new Map<string, string>();
  for (const { mode, blob, path } of await listTree(folder, commit, stop)) {
    if (mode.startsWith("100") && path.startsWith(prefix)) blobs.set(path.slice(prefix.length), blob);
  }
  return { commit, format: commit.length === 64 ? "sha256" : "sha1", blobs };
}

/** The commit that a checkout stands on; null where there is none. */
export async function headCommit(folder: string, stop: Stop): Promise<string | null> {
  try {
    return (await gitAt(folder, stop).raw("rev-parse", "--verify", "--quiet", "HEAD^{commit}")).trim() || null;
  } catch (error) {
    stop.signal.throwIfAborted();
    if (saysDubious(error)) throw failure(folder, error);
    return null;
  }
}

// What may be in the name of a commit: no option, no range, no path, nothing a shell or git reads as syntax.
const REF = /^(?!-)(?!.*(?:\.\.|@\{|\/\/))[\w./@+#=-]{1,250}(?:[~^]\d{0,6}){0,8}$/;

/** The full id of the commit that a name stands for. */
export async function resolveCommit(folder: string, ref: string, stop: Stop): Promise<string> {
  if (!REF.test(ref)) throw noCommit(ref, "A commit is named by its id, a branch or a tag.");
  try {
    return (await gitAt(folder, stop).raw("rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`)).trim();
  } catch (error) {
    stop.signal.throwIfAborted();
    const said = messageOf(error);
    if (said.includes("is ambiguous"))
      throw noCommit(ref, "Both a branch and a tag are called so: write refs/heads/… or refs/tags/… in full.");
    if (isNoRepository(said) || saysDubious(error)) throw failure(folder, error);
    throw noCommit(ref, "Is it spelled right, and fetched? In CI a shallow checkout has only its own commit.");
  }
}

/** The newest commit that two commits both come from. */
export async function mergeBase(folder: string, one: string, other: string, stop: Stop): Promise<string> {
  const [a, b] = [await resolveCommit(folder, one, stop), await resolveCommit(folder, other, stop)];
  try {
    return (await gitAt(folder, stop).raw("merge-base", a, b)).trim();
  } catch (error) {
    stop.signal.throwIfAborted();
    throw new HoldfastError("invalid", `${one} and ${other} have no common commit here`, {
      hint: "In CI, check out the whole history (fetch-depth: 0).",
      cause: error,
    });
  }
}

/** The folder's path below the top of its repository, with a trailing `/`, or empty. */
export async function prefixOf(folder: string, stop: Stop): Promise<string> {
  try {
    return (await gitAt(folder, stop).raw("rev-parse", "--show-prefix")).replace(/\n$/, "");
  } catch (error) {
    stop.signal.throwIfAborted();
    throw failure(folder, error);
  }
}

/** Whether the index of a checkout has a path, or anything below it; relative to the top, which is where git runs. */
export async function isTracked(top: string, path: string, stop: Stop): Promise<boolean> {
  try {
    // An answer without a word would be waited for 50 ms longer.
    await gitAt(top, stop).raw("--literal-pathspecs", "ls-files", "--error-unmatch", "--cached", "-z", "--", path);
    return true;
  } catch (error) {
    stop.signal.throwIfAborted();
    const said = messageOf(error);
    // What only looks like a repository tracks nothing; one that lies elsewhere, and cannot be reached, may.
    if (said.includes("did not match any file") || said.includes("not a git repository (or any")) return false;
    if (!isNoRepository(said)) throw failure(top, error);
    throw new HoldfastError("error", "the repository of the checkout cannot be reached", { cause: error });
  }
}

/** Every entry of a commit's whole tree, by full commit id. */
export async function listTree(folder: string, commit: string, stop: Stop): Promise<readonly TreeEntry[]> {
  try {
    const listing = await gitAt(folder, stop).raw("ls-tree", "-r", "-z", "-l", "--full-tree", commit);
    return listing.split("\0").flatMap(readEntry);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw failure(folder, error);
  }
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
  folder: string,
  blobs: readonly string[],
  { signal }: Stop,
): Promise<readonly Uint8Array[]> {
  if (blobs.length === 0) return [];
  const child = spawn("git", ["cat-file", "--batch"], {
    cwd: folder,
    env: environment(),
    signal,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  // The answer is awaited below; until then a failure must not count as unhandled.
  ended.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  child.stderr.resume();
  child.stdin.end(`${blobs.join("\n")}\n`);
  const contents = await collect(child.stdout, blobs);
  const code = await ended;
  if (code !== 0 || contents.length !== blobs.length) {
    throw new HoldfastError("error", "git could not read the files of the commit", {
      hint: "Check the repository with `git fsck`.",
    });
  }
  return contents;
}

// Each answer is `<id> <type> <size>`, a line feed, the content, a line feed.
async function collect(stdout: AsyncIterable<Buffer>, blobs: readonly string[]): Promise<readonly Uint8Array[]> {
  const contents: Uint8Array[] = [];
  let header = "";
  let body: { readonly bytes: Uint8Array; filled: number } | null = null;
  for await (const part of stdout) {
    let at = 0;
    while (at < part.length && contents.length < blobs.length) {
      if (body === null) {
        const end = part.indexOf(0x0a, at);
        header += part.toString("latin1", at, end < 0 ? part.length : end);
        at = end < 0 ? part.length : end + 1;
        if (end < 0) continue;
        const size = /^[0-9a-f]+ blob (\d+)$/.exec(header)?.[1];
        if (size === undefined) return contents;
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
  }
  return contents;
}

/** The first bytes of a large blob, without reading the rest. */
export async function readBlobHead(
  folder: string,
  blob: string,
  length: number,
  { signal }: Stop,
): Promise<Uint8Array> {
  const child = spawn("git", ["cat-file", "blob", blob], {
    cwd: folder,
    env: environment(),
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

const isNoRepository = (said: string) => said.includes("not a git repository");

const saysDubious = (error: unknown) => messageOf(error).includes("dubious ownership");

function noCommit(ref: string, hint: string): HoldfastError {
  return new HoldfastError("invalid", `${JSON.stringify(ref)} names no commit of this repository`, { hint });
}

function failure(folder: string, cause: unknown): HoldfastError {
  const said = messageOf(cause);
  if (saysDubious(cause)) {
    const top = checkoutTop(folder) ?? folder;
    return new HoldfastError("invalid", "git refuses a repository that belongs to another user", {
      hint: `git config --global --add safe.directory ${top}`,
      cause,
    });
  }
  if (isNoRepository(said))
    return new HoldfastError("invalid", `${folder} is in no git repository`, {
      hint: "--base and git sources need one.",
      cause,
    });
  if (said.includes("ENOENT")) return new HoldfastError("error", "git is not installed, or not in PATH", { cause });
  return new HoldfastError("error", "git failed", { hint: "Run `git status` in the source to see why.", cause });
}
