import { type ChildProcess, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

/** How git is run on a bare repository of ours. */
export type GitRun = {
  readonly folder: string;
  /** Its whole environment. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** What it reads; nothing without. */
  readonly input?: Iterable<Uint8Array | string>;
};

/** What a run of git left. */
export type GitResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** How long git has to remove its temporary files before it is killed. */
const GRACE_MS = 2000;

/**
 * Runs git in a process group of its own, so that a stop ends the transports that it has started as well. The result tells
 * of failures; a stop throws the signal's reason.
 */
export async function runGit(args: readonly string[], { folder, env, signal, input = [] }: GitRun): Promise<GitResult> {
  signal.throwIfAborted();
  const child = spawn("git", args, { cwd: folder, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  // Its exit code tells where it ended without reading everything.
  child.stdin.on("error", () => undefined);
  Readable.from(input).pipe(child.stdin);
  let killing: NodeJS.Timeout | undefined;
  const stop = (): void => {
    signalGroup(child, "SIGTERM");
    killing = setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject).once("close", resolve);
    });
    const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    signal.throwIfAborted();
    return { code, stdout, stderr };
  } finally {
    clearTimeout(killing);
    signal.removeEventListener("abort", stop);
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}
