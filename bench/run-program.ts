import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { pinProcess } from "./pin-process.ts";
import { shebangFlags } from "./shebang-flags.ts";

/** What one measured process took. */
export type Run = {
  readonly milliseconds: number;
  /** From when the first manifest was sent until the reply to the last had come; null where none was. */
  readonly sendingMilliseconds: number | null;
  readonly peakMegabytes: number;
  /** For how long all its threads kept a processor busy. */
  readonly busyMilliseconds: number;
  readonly result: unknown;
};

/** A program of this project to measure, and what it must answer for the run to count. */
export type Program = {
  readonly script: string;
  readonly args: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** The processors that it runs on. @default all of them */
  readonly processors?: string | undefined;
  /** The exit code of a run that counts. @default 0 */
  readonly exitCode?: number;
  /** Explains what is wrong with the result; null when it did the whole work. */
  readonly check: (result: unknown) => string | null;
};

const project = join(import.meta.dirname, "..");
let count = 0;

/** Runs a program once in a process of its own; what it prints must be JSON. */
export async function runProgram({ script, args, env = {}, processors, exitCode = 0, check }: Program): Promise<Run> {
  count += 1;
  const path = resolve(project, script);
  const notes = join(tmpdir(), `holdfast-bench-measured-${process.pid}-${count}`);
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [...shebangFlags(path), "--require", join(import.meta.dirname, "measured.cjs"), path, ...args],
    {
      env: { ...cleanEnvironment(), ...env, BENCH_MEASURED: notes },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  if (processors !== undefined && child.pid !== undefined) pinProcess(child.pid, processors);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  const milliseconds = performance.now() - started;
  const measured = readNotes(notes);
  const result = parse(out);
  const fault = child.exitCode === exitCode ? check(result) : `exit code ${child.exitCode}`;
  if (fault !== null)
    throw new Error(`${script} ${args[0] ?? ""}: ${fault}\n${err.slice(0, 2000)}${out.slice(0, 2000)}`);
  return { milliseconds, ...measured, result };
}

type Note = { readonly peakKilobytes: number; readonly busyMicroseconds: number; readonly sending: number | null };

// Each thread leaves a note of its own, and one alone has sent.
function readNotes(file: string): Pick<Run, "peakMegabytes" | "busyMilliseconds" | "sendingMilliseconds"> {
  const notes = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Note);
  rmSync(file);
  return {
    peakMegabytes: Math.max(...notes.map(({ peakKilobytes }) => peakKilobytes)) / 1024,
    // Each is told of the whole process.
    busyMilliseconds: Math.max(...notes.map(({ busyMicroseconds }) => busyMicroseconds)) / 1000,
    sendingMilliseconds: notes.find(({ sending }) => sending !== null)?.sending ?? null,
  };
}

/** The environment without anything that would change what is measured. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^HOLDFAST_|^NODE_|_PROXY$/i.test(name));
  return Object.fromEntries(kept);
}

function parse(out: string): unknown {
  try {
    return JSON.parse(out);
  } catch {
    return null;
  }
}
