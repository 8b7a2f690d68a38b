import { type ChildProcess, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

/** How a git command is run. */
export type GitRun = {
  readonly folder: string;
  /** Its whole environment. */
  readonly env: { readonly [name: string]: string };
  readonly signal: AbortSignal;
  /** Its standard input. @default empty */
  readonly input?: Iterable<Uint8Array | string>;
};

/** The result of a git command. */
export type GitResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** How long git has to remove its temporary files before it is killed. */
const GRACE_MS = 2000;

/**
 * Runs git in its own process group, so that a stop also ends the transports that git started. A failure is returned in
 * the result; a stop throws the reason of the signal.
 */
export async function runGit(args: readonly string[], { folder, env, signal, input = [] }: GitRun): Promise<GitResult> {
  signal.throwIfAborted();
  const child = spawn("git", args, { cwd: folder, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  // If git ends before it reads all input, its exit code reports the failure.
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
