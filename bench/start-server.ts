import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { cleanEnvironment } from "./run-program.ts";
import { shebangFlags } from "./shebang-flags.ts";

/** A server in a process of its own. */
export type BenchServer = {
  readonly url: string;
  readonly pid: number;
  /** How long it took until it listened. */
  readonly startMilliseconds: number;
  /** The most memory that it has had so far. */
  readonly peakMegabytes: () => number;
  /** The time for which it has kept a processor busy so far. */
  readonly busyMilliseconds: () => number;
  readonly stop: () => Promise<void>;
};

/** Starts a server and waits until it says where it listens. */
export async function startServer(
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<BenchServer> {
  const started = performance.now();
  const [script = "", ...rest] = args;
  const child = spawn(process.execPath, [...shebangFlags(script), script, ...rest], {
    env: { ...cleanEnvironment(), ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const stop = () => endProcess(child);
  try {
    const url = await listeningAt(child.stdout);
    const pid = child.pid ?? 0;
    return {
      url,
      pid,
      startMilliseconds: performance.now() - started,
      peakMegabytes: () => peakMegabytes(pid),
      busyMilliseconds: () => busyMilliseconds(pid),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Asks a process to end, and waits until it has. */
export async function endProcess(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

async function listeningAt(stdout: Readable): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const [, url] = /^listening on (http:\S+)$/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("the server ended before it listened");
}

/** The most memory that a process has had so far. */
export function peakMegabytes(pid: number): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

/** The time for which a process has kept a processor busy so far. */
export function busyMilliseconds(pid: number): number {
  // Fields 14 and 15, counted after the name in brackets, are user and system time in hundredths of a second.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
