// biome-ignore-all lint/plugin: it waits for a process, which goes by real time
import { type ChildProcess, spawn } from "node:child_process";
import type { Secret } from "../contract/secret.ts";

/** How a program of the operator is run. */
export type ProgramRun = {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** What it gets on standard input; null for nothing. */
  readonly input: Secret | null;
  /** How many bytes it may print. */
  readonly mostBytes: number;
  /** Kills it, and what it has started. */
  readonly stop: AbortSignal;
};

/** How a program has ended; without a code it was killed, or has printed too much. */
export type EndedProgram = { readonly code: number | null; readonly stdout: Buffer };

/** Runs a program without a shell. What it prints on standard error is not read: it may quote a secret. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env, input, mostBytes, stop }: ProgramRun,
): Promise<EndedProgram> {
  // In a process group of its own, so that what it started is stopped with it.
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ["pipe", "pipe", "ignore"] });
  const pieces: Buffer[] = [];
  let size = 0;
  const end = (): void => {
    killGroup(child);
    // What has left the group may hold the pipe.
    child.stdout.destroy();
  };
  stop.addEventListener("abort", end, { once: true });
  if (stop.aborted) end();
  child.stdout.on("data", (piece: Buffer) => {
    size += piece.length;
    if (size > mostBytes) end();
    else pieces.push(piece);
  });
  // A program that reads no input closes it.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input?.open() ?? "");
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("close", resolve);
      child.once("error", (cause: NodeJS.ErrnoException) =>
        reject(new Error(`${program} cannot be run (${cause.code})`, { cause })),
      );
    });
    return { code: size > mostBytes ? null : code, stdout: Buffer.concat(pieces) };
  } finally {
    stop.removeEventListener("abort", end);
  }
}

/** The environment without what is for Holdfast alone: its own variables, and others by name. */
export function envOfProgram(env: ProgramRun["env"], others: ReadonlySet<string> = new Set()): ProgramRun["env"] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("HOLDFAST_") && !others.has(name)));
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended in the meantime.
  }
}
