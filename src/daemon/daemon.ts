// src/daemon: the passes over targets, again and again. See docs/pod.md#the-daemon.

import { errorMessage } from "../contract/error-message.ts";
import { continueInPass } from "../contract/trace.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import type { PassRecord, TargetStatus } from "../core/report/target-status.ts";
import { runWarning } from "../core/run-warning.ts";
import { createElection, type Election, type Leader } from "../engine/lease/leader.ts";
import { requireOwnState } from "../engine/load/own-state.ts";
import type { Run, Stoppable } from "../engine/run.ts";
import type { Target } from "../engine/target.ts";
import { globMatcher } from "../model/glob.ts";
import { type CarriedOut, carryOut, type WatchedTarget } from "./carry-out.ts";
import type { DaemonControl, TargetCommand } from "./control-socket.ts";
import type { DatabaseWatch } from "./database-watch.ts";
import { observers, type PassObserver, recall, toldBy } from "./pass-observer.ts";
import type { PassCause, PassQueue } from "./pass-queue.ts";
import { createPassRecorder, type PassRecorder, type RecorderOptions } from "./pass-recorder.ts";
import { createPassWatch } from "./pass-watch.ts";
import { runPasses } from "./run-passes.ts";
import type { PassSchedule, Succession } from "./target-pass.ts";

/** A target that a daemon keeps equal to its source. */
export type DaemonTarget = PassSchedule & {
  readonly name: string;
  readonly target: Target;
  /** Why it runs no pass and is Stalled, while the others run; null if it can be used. */
  readonly fault: HoldfastError | null;
  /** The name of the source; null for the local folder. */
  readonly source: string | null;
  /** The commits of the source after `after`, up to and including `upTo`. */
  readonly between: RecorderOptions["between"];
  /** The address of the control plane: targets with the same one share a lease. Null for the default one. */
  readonly server: string | null;
  /** The control plane, as the ledger names it. */
  readonly serverName: string;
  /** The digest of what the source is, to be told from another one; null for the local folder. */
  readonly sourceDigest: string | null;
  /** A digest of what its passes are made with beside the source: the configuration and the program. */
  readonly settingsDigest: () => string;
};

/** What a daemon is made of. */
export type DaemonParts = {
  readonly targets: readonly DaemonTarget[];
  /** The database that has the state of all targets; null where a folder has it. */
  readonly database: DatabaseWatch | null;
  /** Opens the control socket; null where none is needed. */
  readonly serve: (control: DaemonControl) => Promise<AsyncDisposable | null>;
  readonly queue: PassQueue;
  readonly observers: DaemonObservers;
};

/** Those who are told what a daemon does; they steer nothing. */
export type DaemonObservers = {
  /** The observers of a target's passes, from the beginning of a run. */
  readonly of: (target: string) => readonly PassObserver[];
  /** Called for what is no failure of a pass. */
  readonly onWarning: (warning: Diagnostic) => void;
};

/** The passes over some targets, with a control socket; disposal gives up their leases. */
export type Daemon = AsyncDisposable & {
  readonly targets: readonly DaemonView[];
  /** Starts a pass of every target. */
  readonly fire: (cause: PassCause) => void;
  /** Whether a pass of a target has worked: it has compared its source with live, or stands by. */
  readonly hasWorked: () => boolean;
  /** Runs until it is stopped or replaced; fails when a target fails for good, after the others have ended their passes. */
  readonly run: (run: DaemonRun) => Promise<void>;
};

/** What a daemon shows of one of its targets. */
export type DaemonView = {
  readonly name: string;
  readonly source: string | null;
  readonly status: () => Promise<TargetStatus>;
  /** The latest records of its passes, oldest first. */
  readonly latest: () => Promise<readonly PassRecord[]>;
  readonly hasLease: () => boolean;
  /** Carries out what a person asks for, between two passes. */
  readonly carryOut: (command: TargetCommand) => Promise<CarriedOut>;
  /** Starts a pass for a cause that can only have changed the source. */
  readonly fireForChanges: (cause: PassCause) => void;
};

/** One run of a daemon. */
export type DaemonRun = Succession & {
  /** Called when one of several targets fails for good. */
  readonly onTargetFailed: (error: HoldfastError) => void;
};

/** How often a daemon without its control socket tries to open it. */
const SOCKET_RETRY_MS = 2000;

type Watched = WatchedTarget & DaemonTarget & { readonly election: Election | null; readonly recorder: PassRecorder };

/** Creates a daemon; nothing runs yet. */
export function createDaemon(
  { targets, database, serve, queue, observers }: DaemonParts,
  run: Omit<Run, "emit">,
): Daemon {
  const resources = new AsyncDisposableStack();
  const electionOf = queue.machine === null ? electionsFor(targets, run, resources) : () => null;
  const watched = targets.map((one): Watched => {
    const election = electionOf(one);
    const leader = election?.leader(() => {}) ?? null;
    return {
      ...one,
      queue,
      election,
      leader,
      recorder: recorderOf(one, leader, { ...run, machine: queue.machine, database }),
    };
  });
  const fire = (cause: PassCause): void => {
    for (const { name } of watched) queue.enqueue({ target: name, scope: "all", cause });
  };
  let hasWorked = false;
  const onWorked = (): void => {
    hasWorked = true;
  };
  return {
    targets: watched.map((one) => ({
      name: one.name,
      source: one.source,
      status: one.recorder.status,
      latest: one.recorder.latest,
      hasLease: () => one.leader?.hasLease() ?? false,
      carryOut: async (command) => {
        if (one.fault !== null) throw one.fault;
        return carryOut(command, one, run);
      },
      fireForChanges: (cause) => {
        continueInPass(one.name);
        queue.enqueue({ target: one.name, scope: "changes", cause });
      },
    })),
    fire,
    hasWorked: () => hasWorked,
    run: (one) => runAll(watched, { ...run, ...one, serve, observers, fire, onWorked }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

// Targets of one control plane share a lease, because separate leases could exclude each other.
function electionsFor(
  targets: readonly DaemonTarget[],
  { clock }: Stoppable,
  resources: AsyncDisposableStack,
): (target: DaemonTarget) => Election {
  const groups = Map.groupBy(targets, serverOf);
  const elections = new Map(
    [...groups].map(([server, members]) => {
      return [server, resources.use(createElection({ isShared: members.length > 1, clock }))] as const;
    }),
  );
  return (target) => elections.get(serverOf(target)) ?? resources.use(createElection({ clock }));
}

function serverOf({ server }: DaemonTarget): string {
  return (server ?? "").replace(/\/+$/, "");
}

function recorderOf(
  { name, source, target, between }: DaemonTarget,
  leader: Leader | null,
  { clock, machine, database }: Stoppable & Pick<DaemonParts, "database"> & { readonly machine: string | null },
): PassRecorder {
  return createPassRecorder({
    target: name,
    source,
    state: target.state,
    now: clock.now,
    freezes: target.freezes,
    standsBy: () => leader?.standsBy() ?? null,
    between,
    machine,
    database,
  });
}

type RunOptions = Omit<Run, "emit"> &
  Pick<DaemonParts, "serve" | "observers"> &
  DaemonRun & { readonly fire: (cause: PassCause) => void; readonly onWorked: () => void };

async function runAll(watched: readonly Watched[], options: RunOptions): Promise<void> {
  await using control = controlOn(watched, options);
  await control.open();
  const failed = new AbortController();
  const replaced = AbortSignal.any([options.replaced, failed.signal]);
  const runOne = async (one: Watched): Promise<void> => {
    try {
      await runTarget(one, { ...options, isAlone: watched.length === 1, replaced }, control);
    } catch (error) {
      // The others finish the pass in progress and end.
      if (watched.length > 1 && error instanceof HoldfastError) {
        options.onTargetFailed(error);
        failed.abort();
        options.fire("configuration");
      }
      throw error;
    }
  };
  const ends = await Promise.allSettled(watched.map(runOne));
  const failure = ends.find((end) => end.status === "rejected");
  if (failure !== undefined) throw failure.reason;
}

async function runTarget(
  one: Watched,
  options: RunOptions & { readonly isAlone: boolean },
  control: ControlSocket,
): Promise<void> {
  const watch = createPassWatch();
  const { isAlone, clock, random, stopping, signal, replaced, isReloaded, memories, onWorked } = options;
  const all = [watch.observer, ...options.observers.of(one.name), one.recorder.observer];
  const { begin, emit, failure, end, dropped, stored, applied, ended } = observers(all);
  const { name, serverName, sourceDigest, settingsDigest, target, queue, election, sync, recorder } = one;
  const { intervalMs, driftIntervalMs } = one;
  const stall = async (error: unknown, startedAt: number): Promise<void> => {
    // Nothing may be written into a folder that is refused.
    const isOwn = await requireOwnState(target, signal).then(
      () => true,
      () => false,
    );
    if (!isOwn) return;
    watch.observer.failure(error);
    await recorder.onPassEnd(watch.end({ startedAt, endedAt: clock.now(), nextAt: null, wanted: null }));
    stored();
  };
  if (one.fault !== null) {
    failure(one.fault);
    await stall(one.fault, clock.now());
    return untilAborted(AbortSignal.any([stopping, replaced]));
  }
  try {
    await runPasses(target, {
      ...{ clock, random, stopping, signal, replaced, isReloaded, memories },
      ...{
        name,
        serverName,
        sourceDigest,
        settingsDigest,
        isAlone,
        queue,
        election,
        sync,
        intervalMs,
        driftIntervalMs,
      },
      emit,
      onWorked,
      // The daemon that served the socket before has ended.
      onTakeover: () => void control.open(),
      onRecall: (told) => recall(all, told),
      onPassBegin: begin,
      onFailure: failure,
      onPassEnd: async (times, memory) => {
        const pass = watch.end(times);
        end(pass);
        try {
          const waitedMs = await recorder.onPassEnd(pass, { ...memory, told: toldBy(all) });
          if (waitedMs !== null) applied(waitedMs);
        } finally {
          stored();
        }
      },
      onPassDropped: () => {
        watch.drop();
        dropped();
      },
      onFatal: stall,
    });
    if (!replaced.aborted) ended(null);
  } catch (error) {
    ended(error);
    throw error;
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

type ControlSocket = AsyncDisposable & {
  /** Opens the socket unless it is open or another daemon serves it. */
  readonly open: () => Promise<void>;
};

// Passes need no socket, so its failure is only a warning. The daemon that serves it may end, and be no other target's
// predecessor; and one that was killed seems to serve it until the kernel has closed its files.
function controlOn(watched: readonly Watched[], options: RunOptions): ControlSocket {
  let opened: AsyncDisposable | null = null;
  let lastFailure: string | null = null;
  const serve = async (): Promise<void> => {
    try {
      opened ??= await options.serve(controlOf(watched, options));
    } catch (error) {
      const why = errorMessage(error);
      if (why !== lastFailure)
        options.observers.onWarning(runWarning("no-socket", `the daemon has no socket for commands: ${why}`));
      lastFailure = why;
    }
  };
  let opening: Promise<void> = Promise.resolve();
  const open = (): Promise<void> => {
    opening = opening.then(serve);
    return opening;
  };
  const retry = options.clock.every(SOCKET_RETRY_MS, () => void open(), { ref: false });
  return {
    open,
    [Symbol.asyncDispose]: async () => {
      retry[Symbol.dispose]();
      await opening;
      await opened?.[Symbol.asyncDispose]();
    },
  };
}

function controlOf(watched: readonly Watched[], options: RunOptions): DaemonControl {
  return {
    status: () => Promise.all(watched.map(({ recorder }) => recorder.status())),
    reconcile: async (name) => {
      const isNamed = globMatcher(name ?? "*");
      const chosen = watched.filter((one) => one.fault === null && isNamed(one.name));
      await Promise.all(chosen.map((one) => one.queue.passed({ target: one.name, scope: "all", cause: "request" })));
    },
    carryOut: async (command) => {
      const found = watched.find(({ name }) => name === command.target);
      const { clock, random, stopping, signal } = options;
      if (found !== undefined) return carryOut(command, found, { clock, random, stopping, signal });
      throw new HoldfastError("invalid", `the daemon does not watch the target ${command.target}`, {
        hint: "it has `sync: off`, or the daemon was started with --target",
      });
    },
  };
}
