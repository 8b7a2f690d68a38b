// biome-ignore-all lint/plugin: it waits for a process, which goes by real time
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { Readable, type Writable } from "node:stream";

/** How a git command is run. */
export type GitRun = {
  readonly folder: string;
  /** Its whole environment. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** Its standard input. @default empty */
  readonly input?: Iterable<Uint8Array | string>;
  /** Gets its standard output, piece by piece, which is then not part of the result; git is stopped if this throws. */
  readonly take?: (part: Buffer) => void;
};

/** The result of a git command; the code is null if a signal ended it, or it printed too much. */
export type GitResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether it was stopped because it printed too much. */
  readonly isTooMuch: boolean;
};

/** How long git has to remove its temporary files before it is killed. */
const GRACE_MS = 2000;
/** What git prints is held in memory. */
const MAX_STDOUT = 256 * 1024 * 1024;
/** A host can make git print messages without end. */
const MAX_STDERR = 4 * 1024 * 1024;

// A second process reads a pipe whose other end only this process has: once this process ends, however it ends, it kills
// git and all that git has started. Background processes of a shell do not get its input unless it is named.
const WITH_PARENT = `
exec 4<&0
"$@" <&4 3<&- 4<&- & git=$!
{ trap '' TERM; read -r line <&3; kill -KILL 0; } </dev/null >/dev/null 2>&1 4<&- & watcher=$!
exec </dev/null 3<&- 4<&-
trap : TERM
wait $git; code=$?
while kill -0 $git 2>/dev/null; do wait $git; code=$?; done
kill -KILL $watcher; wait $watcher 2>/dev/null
exit $code`;
const SHELL = "/bin/sh";
const NOT_FOUND = 127;

/**
 * Runs git in its own process group, so that a stop also ends the transports that git started; they end with this process
 * too. A failure is returned in the result; a stop throws the reason of the signal.
 */
export async function runGit(
  args: readonly string[],
  { folder, env, signal, input = [], take }: GitRun,
): Promise<GitResult> {
  signal.throwIfAborted();
  // Where there is no shell, git may outlive this process when that is killed.
  const [program = "", ...words] = existsSync(SHELL)
    ? [SHELL, "-c", WITH_PARENT, "sh", "git", ...args]
    : ["git", ...args];
  const child = spawn(program, words, {
    cwd: folder,
    env,
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "pipe"],
  });
  feed(child.stdin, input);
  const parent = child.stdio[3];
  parent?.on("error", () => undefined);
  let killing: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(child, "SIGTERM");
    killing ??= setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  const output = collect(child, take, stop);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    signal.throwIfAborted();
    const { stdout, stderr, thrown, isTooMuch } = output.end();
    if (thrown !== null) throw thrown.error;
    if (code === NOT_FOUND && stderr.includes("not found")) throw notInstalled();
    return { code: isTooMuch ? null : code, stdout, stderr, isTooMuch };
  } finally {
    clearTimeout(killing);
    signal.removeEventListener("abort", stop);
  }
}

// If git ends before it reads all input, its exit code reports the failure.
function feed(stdin: Writable | null, input: Iterable<Uint8Array | string>): void {
  if (stdin === null) return;
  stdin.on("error", () => undefined);
  Readable.from(input).pipe(stdin);
}

type Output = {
  readonly stdout: string;
  readonly stderr: string;
  readonly isTooMuch: boolean;
  readonly thrown: { readonly error: unknown } | null;
};

function collect(child: ChildProcess, take: GitRun["take"], stop: () => void): { readonly end: () => Output } {
  let thrown: Output["thrown"] = null;
  let isTooMuch = false;
  const bounded = (most: number, give: (part: Buffer) => void) => {
    let size = 0;
    return (part: Buffer): void => {
      size += part.length;
      if (isTooMuch || thrown !== null) return;
      isTooMuch = size > most;
      try {
        if (isTooMuch) stop();
        else give(part);
      } catch (error) {
        thrown = { error };
        stop();
      }
    };
  };
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  const most = take === undefined ? MAX_STDOUT : Number.POSITIVE_INFINITY;
  child.stdout?.on("data", bounded(most, take ?? ((part) => void stdout.push(part))));
  child.stderr?.on(
    "data",
    bounded(MAX_STDERR, (part) => void stderr.push(part)),
  );
  const textOf = (parts: readonly Buffer[]) => Buffer.concat(parts).toString("utf8");
  return { end: () => ({ stdout: isTooMuch ? "" : textOf(stdout), stderr: textOf(stderr), isTooMuch, thrown }) };
}

// As spawning it directly would fail.
function notInstalled(): Error {
  return Object.assign(new Error("spawn git ENOENT"), { code: "ENOENT", syscall: "spawn git", path: "git" });
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
