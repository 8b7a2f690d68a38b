import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Clock } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { isObject, parseJsonOrNull } from "../../contract/json.ts";
import type { Log } from "../../log/log.ts";
import { escapeUnprintable } from "../../model/unprintable.ts";
import { CLAIM_MS } from "../database/advance-due-rows.ts";
import {
  type DriverRollout,
  isStatusName,
  type RolloutDriver,
  type RolloutStatus,
  rolloutStatus,
  statusNames,
} from "./rollout-driver.ts";

/** A program of the operator that carries out rollouts: one process for each. */
export type RolloutProgram = {
  readonly path: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** How long one rollout may take. */
  readonly seconds: number;
  /** How many processes run at once. */
  readonly atOnce: number;
};

/** The program of one rollout, while it runs and until what it said is stored. */
type Run = {
  readonly rollout: DriverRollout;
  readonly child: ChildProcess;
  /** What it said, from the beginning. */
  readonly told: RolloutStatus[];
  readonly timer: Disposable;
  /** When it was asked last, by the monotonic clock. */
  askedAt: number;
  hasExited: boolean;
  /** Nothing that it says counts any more. */
  isOver: boolean;
};

const MAX_LINES = 100;
const MAX_OUTPUT = 1024 * 1024;
const MAX_LINE = 65_536;
const MAX_MESSAGE = 1000;
const KEPT_ERRORS = 4096;
// From SIGTERM to SIGKILL, and from the end of a program to that of the processes that it has left.
const GRACE_MS = 5000;
const QUEUED_MS = 1000;

/**
 * A driver that hands each deployment to a program: JSON on its stdin, a status in each line of its stdout. Whatever the
 * program does, its rollout ends with a status.
 */
export function createProgramRollouts(
  { path, env, seconds, atOnce }: RolloutProgram,
  {
    clock,
    log,
    isShared,
    changed,
  }: {
    readonly clock: Clock;
    readonly log: Log;
    /** Whether other servers may take over a rollout that is not asked for in time. */
    readonly isShared: boolean;
    /** Called when there is something to ask for. */
    readonly changed: () => void;
  },
): RolloutDriver {
  const runs = new Map<string, Run>();

  const fail = (run: Run, why: string): void => {
    if (run.isOver) return;
    const reason = escapeUnprintable(why);
    log.warn({ event: "rollout-program-failed", deployment: run.rollout.fqn, reason }, "the rollout's program failed");
    tell(run, rolloutStatus("DEPLOY_FAILED", `the rollout driver ${reason}`, run.rollout.manifest));
  };

  const tell = (run: Run, status: RolloutStatus): void => {
    if (run.isOver) return;
    run.told.push(status);
    if (status.isTerminalState) stop(run);
    changed();
  };

  const readLine = (run: Run, line: string): void => {
    if (line.trim() === "" || run.isOver) return;
    const given = line.length > MAX_LINE ? null : parseJsonOrNull(line);
    const { status, message } = isObject(given) ? given : {};
    if (!isStatusName(status) || (message !== undefined && typeof message !== "string")) {
      fail(run, `wrote a line that is no status (${statusNames.join(", ")}): ${line.slice(0, 200)}`);
      return;
    }
    if (run.told.length >= MAX_LINES && !rolloutStatus(status, undefined, {}).isTerminalState) {
      fail(run, `wrote more than ${MAX_LINES} statuses`);
      return;
    }
    const shown = message === undefined ? undefined : escapeUnprintable(message.slice(0, MAX_MESSAGE));
    tell(run, rolloutStatus(status, shown, run.rollout.manifest));
  };

  const stop = (run: Run): void => {
    // A second signal would interrupt what it does at its end.
    if (run.isOver) return;
    run.isOver = true;
    run.timer[Symbol.dispose]();
    if (run.hasExited) return;
    signal(run.child, "SIGTERM");
    const killing = clock.after(GRACE_MS, () => signal(run.child, "SIGKILL"), { ref: false });
    run.child.once("exit", () => killing[Symbol.dispose]());
  };

  const start = (rollout: DriverRollout): void => {
    // A group of its own, so that what it has started ends with it.
    const child = spawn(path, [], { env: { ...env }, stdio: ["pipe", "pipe", "pipe"], detached: true });
    const timer = clock.after(seconds * 1000, () => fail(run, `did not end within ${seconds} s`), { ref: false });
    const run: Run = { rollout, child, timer, told: [], askedAt: clock.monotonic(), hasExited: false, isOver: false };
    runs.set(rollout.deploymentId, run);
    const ended = (why: string): void => {
      if (run.hasExited) return;
      run.hasExited = true;
      fail(run, why);
      timer[Symbol.dispose]();
      changed();
    };
    child.once("error", (error) => ended(`cannot be started: ${errorMessage(error)}`));
    // A program that ends without reading its input is judged by its statuses.
    child.stdin?.on("error", () => {});
    child.stdin?.end(`${JSON.stringify(inputOf(rollout))}\n`);
    let size = 0;
    let rest = "";
    let errors = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      size += text.length;
      if (size > MAX_OUTPUT) return fail(run, `wrote more than ${MAX_OUTPUT} characters`);
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > MAX_LINE) lines.push(rest);
      for (const line of lines) readLine(run, line);
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors = (errors + text).slice(-KEPT_ERRORS);
    });
    child.once("exit", async (code, by) => {
      // What it has started may hold its output open.
      await Promise.race([once(child, "close"), clock.sleep(GRACE_MS, { ref: false })]);
      signal(child, "SIGKILL");
      readLine(run, rest);
      const last = errors.trim().split("\n").at(-1) ?? "";
      const how = code === null ? `was ended by ${by}` : `ended with exit code ${code}`;
      const why = code === 0 ? `${how} without a final status` : how;
      ended(last === "" ? why : `${why}: ${last.slice(0, 500)}`);
    });
  };

  return {
    begin: ({ manifest }, now) => ({ progress: [rolloutStatus("INITIALIZED", undefined, manifest)], dueAt: now }),
    observe: async (rollout, now) => {
      const run = runs.get(rollout.deploymentId);
      if (run === undefined) {
        const application = applicationOf(rollout);
        const isBusy = runs.values().some((other) => !other.hasExited && applicationOf(other.rollout) === application);
        if (isBusy || runs.size >= atOnce) return { progress: [], dueAt: now + QUEUED_MS };
        start(rollout);
        return { progress: [], dueAt: now + CLAIM_MS };
      }
      if (isShared && clock.monotonic() - run.askedAt > CLAIM_MS) {
        stop(run);
        runs.delete(rollout.deploymentId);
        return { progress: [], dueAt: now + CLAIM_MS };
      }
      run.askedAt = clock.monotonic();
      const progress = run.told.slice(rollout.statuses - run.rollout.statuses);
      if (!progress.some(({ isTerminalState }) => isTerminalState)) return { progress, dueAt: now + CLAIM_MS };
      changed();
      return { progress, dueAt: null };
    },
    programs: {
      deployments: () => [...runs.keys()],
      end: (deploymentId) => {
        const run = runs.get(deploymentId);
        if (run === undefined) return;
        stop(run);
        if (run.hasExited) runs.delete(deploymentId);
      },
      close: async () => {
        const left = [...runs.values()].filter(({ hasExited }) => !hasExited);
        for (const run of left) stop(run);
        await Promise.all(left.map(({ child }) => once(child, "exit").catch(() => {})));
      },
    },
  };
}

/** What the program reads from its stdin. */
function inputOf({ deploymentId, fqn, manifest, status, startedAt }: DriverRollout) {
  const [cluster = "", workspace = "", application = "", version = ""] = fqn.split(":");
  return {
    deploymentId,
    fqn,
    cluster,
    workspace,
    application,
    version: Number(version),
    status,
    createdAt: new Date(startedAt).toISOString(),
    manifest,
  };
}

function applicationOf({ fqn }: DriverRollout): string {
  return fqn.slice(0, fqn.lastIndexOf(":"));
}

/** Signals the group of a process; it may have ended. */
function signal({ pid }: ChildProcess, name: "SIGTERM" | "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // Nothing of it is left.
  }
}
