import { type ChildProcess, spawn } from "node:child_process";
import { once as onceEmitted } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { once } from "../../src/model/once.ts";
import { cacheOfTests, madeBothWays, type Once } from "./both-ways.ts";
import { bundled } from "./bundled-commands.ts";
import { eventually } from "./eventually.ts";

/** What a finished command left. */
export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** A command that runs. */
export type Running = {
  /** Waits until its output shows the pattern. */
  readonly shows: (stream: "stdout" | "stderr", pattern: RegExp) => Promise<RegExpExecArray>;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Signals it and all that it started, as a terminal does on Ctrl-C. */
  readonly killGroup: (signal: NodeJS.Signals) => void;
  /** Stops reading its output, as `| head` does. */
  readonly closeOutput: () => void;
  readonly ended: Promise<Ended>;
};

/** How a command is started: nothing of the tests' own environment reaches it but what is given here. */
export type Surroundings = {
  readonly cwd: string;
  readonly env?: { readonly [name: string]: string };
  /** How many blocks of 512 bytes a file may have: past them there is no room, as on a full disk. */
  readonly mostBlocks?: number;
  /** A command that starts it, such as one that mounts a file system first. */
  readonly through?: readonly string[];
};

const alive = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of alive) signalGroup(child, "SIGKILL");
});

/**
 * Starts the built `holdfast` with the flags that its first line gives to Node, as users start it; it is killed when the
 * test is over. `watch` writes text unless its arguments say otherwise.
 */
export function start(args: readonly string[], surroundings: Surroundings): Running {
  const isSilent = args[0] === "watch" && !args.some((arg) => /^(?:-o|--output|--log-format)/.test(arg));
  const given = isSilent ? [...args, "-o", "text"] : args;
  return startNode([...nodeFlags(), inject("holdfast"), ...given], surroundings);
}

const nodeFlags = once((): readonly string[] => {
  const [, flags] = /^#!.* node (--.*)\n/.exec(readFileSync(inject("holdfast"), "utf8")) ?? [];
  if (flags === undefined) throw new Error("the first line of bin/holdfast.js gives no flags to Node");
  return flags.split(" ");
});

/** Starts a script with Node; it and what it started are killed when the test is over. */
export function startNode(args: readonly string[], surroundings: Surroundings): Running {
  const { cwd, mostBlocks, through = [] } = surroundings;
  const before = [...through, ...(mostBlocks === undefined ? [] : within(mostBlocks)), process.execPath];
  const [command = process.execPath, ...rest] = before;
  const child = spawn(command, [...rest, ...args], {
    cwd,
    env: environment(surroundings),
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own, so that nothing it started can outlive the test.
    detached: true,
  });
  alive.add(child);
  const seen = { stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"] as const) {
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      seen[stream] += text;
    });
  }
  const ended = onceEmitted(child, "close").then(([code, signal]): Ended => {
    alive.delete(child);
    return { code, signal, ...seen };
  });
  onTestFinished(async () => {
    signalGroup(child, "SIGKILL");
    await ended;
  });
  return {
    shows: (stream, pattern) =>
      eventually("the output", () => {
        const found = pattern.exec(seen[stream]);
        if (found !== null || child.exitCode === null) return found;
        throw new Error(`it ended with ${child.exitCode}`);
      }).catch((cause: unknown) => {
        throw new Error(`${args.join(" ")} does not show ${pattern}, but:\n${seen.stdout}\n${seen.stderr}`, { cause });
      }),
    stdout: () => seen.stdout,
    stderr: () => seen.stderr,
    kill: (signal) => void child.kill(signal),
    killGroup: (signal) => signalGroup(child, signal),
    closeOutput: () => void child.stdout.destroy(),
    ended,
  };
}

// Wide, so that what is expected of a message does not depend on where its lines end.
function environment({ cwd, env }: Surroundings): NonNullable<Surroundings["env"]> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: cwd,
    COLUMNS: "1000",
    NODE_COMPILE_CACHE: inject("compileCache"),
    ...cacheOfTests,
    ...env,
  };
}

// Without the trap the kernel would end it, instead of telling it that there is no room.
function within(blocks: number): readonly string[] {
  return ["sh", "-c", `trap "" XFSZ; ulimit -f ${blocks}; exec "$0" "$@"`];
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
}

/**
 * Runs the built `holdfast` to its end: as a process the first time that a run of the suite asks for a command and an
 * output format, and wherever that makes a difference; else in the process of the tests, in a fifth of the time. With
 * `HOLDFAST_TEST_PROCESSES=all`, each command is a process.
 */
export async function run(args: readonly string[], surroundings: Surroundings & Once): Promise<Ended> {
  const { cwd, env = {}, once } = surroundings;
  const isHere = !concernsProcess(args, surroundings);
  const byProcess = (env: Surroundings["env"]) => start(args, { ...surroundings, ...(env && { env }) }).ended;
  const here = (env: Surroundings["env"]) =>
    bundled().runHere(args, {
      cwd,
      env: environment({ ...surroundings, ...(env && { env }) }),
      once: "what is made both ways is decided here",
    });
  const ended = await (isHere && !isFirst(args) ? here : byProcess)(env);
  return madeBothWays(args, ended, { env, once }, isHere ? here : byProcess);
}

function isFirst(args: readonly string[]): boolean {
  const format = args[args.findIndex((arg) => arg === "-o" || arg === "--output") + 1];
  return process.env.HOLDFAST_TEST_PROCESSES === "all" || isNoted(`${args[0]} ${format}`);
}

/** Whether no process of the tests has noted it before. */
function isNoted(kind: string): boolean {
  try {
    mkdirSync(join(inject("commandsRun"), encodeURIComponent(kind)));
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

// A command in the process of the tests finds the same programs as they, and its log goes where that of a text does.
function concernsProcess(args: readonly string[], { env = {}, mostBlocks, through }: Surroundings): boolean {
  const isOther = (name: string): boolean => !name.startsWith("HOLDFAST_") || name === "HOLDFAST_LOG_FORMAT";
  if (mostBlocks !== undefined || through !== undefined) return true;
  return args.some((arg) => arg.startsWith("--log-format")) || Object.keys(env).some(isOther);
}
