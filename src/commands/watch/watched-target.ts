import PQueue from "p-queue";
import { type DaemonContext, runDaemon } from "../../daemon/daemon.ts";
import { createTrigger } from "../../daemon/loop.ts";
import type { Meter } from "../../daemon/meter.ts";
import { observers, type PassObserver } from "../../daemon/pass-observer.ts";
import { createPassRecorder, type PassRecorder } from "../../daemon/pass-recorder.ts";
import { createPassWatch } from "../../daemon/pass-watch.ts";
import { createLeader, type Leader } from "../../engine/lease/leader.ts";
import type { Invocation } from "../command.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { createWatchReporter } from "./watch-reporter.ts";

const INTERVAL_S = 60;

/** A target with the objects that drive its passes. */
export type WatchedTarget = {
  readonly target: CommandTarget;
  readonly trigger: ReturnType<typeof createTrigger>;
  readonly leader: Leader;
  readonly recorder: PassRecorder;
  /** Runs one pass or command at a time. */
  readonly passQueue: PQueue;
};

/** Runs the daemon of one target until it ends. */
export async function watchTarget(
  { target, trigger, leader, recorder, passQueue }: WatchedTarget,
  observe: (target: CommandTarget) => readonly PassObserver[],
  invocation: Invocation,
  { replaced, isReloaded }: Pick<DaemonContext, "replaced" | "isReloaded">,
): Promise<void> {
  const reporter = createWatchReporter(invocation, target.choice?.name ?? null);
  const watch = createPassWatch();
  const { begin, emit, failure, end } = observers([watch.observer, reporter, ...observe(target)]);
  const seconds = invocation.flags.interval ?? target.choice?.interval ?? INTERVAL_S;
  reporter.started(seconds);
  const sync = target.choice?.sync === "report" ? "report" : "heal";
  const context: Omit<DaemonContext, keyof Invocation["terminal"]> = {
    emit,
    intervalMs: seconds * 1000,
    driftIntervalMs: (target.choice?.driftInterval ?? seconds) * 1000,
    trigger,
    passQueue,
    leader,
    sync,
    replaced,
    isReloaded,
    onPassBegin: begin,
    onFailure: failure,
    onPassEnd: (times) => {
      const pass = watch.end(times);
      end(pass);
      reporter.idle(times.nextAt);
      return recorder.onPassEnd(pass);
    },
  };
  try {
    await runDaemon(target, { ...invocation.terminal, ...context });
    if (!replaced.aborted) reporter.ended(null);
  } catch (error) {
    reporter.ended(error);
    throw error;
  }
}

/** Creates the trigger, leader election, pass recorder and queue of each target. */
export function watchedTargets(
  targets: readonly CommandTarget[],
  resources: AsyncDisposableStack,
  terminal: Invocation["terminal"] & { readonly meter: Meter | undefined },
): readonly WatchedTarget[] {
  const leaderOf = leadersFor(targets, resources, terminal);
  return targets.map((target) => {
    const trigger = createTrigger();
    const leader = leaderOf(target);
    const recorder = recorderOf(target, leader, terminal);
    return { target, trigger, leader, recorder, passQueue: new PQueue({ concurrency: 1 }) };
  });
}

// Targets of one control plane share a lease, because separate leases could exclude each other.
function leadersFor(
  targets: readonly CommandTarget[],
  resources: AsyncDisposableStack,
  { clock }: Invocation["terminal"],
): (target: CommandTarget) => Leader {
  const serverOf = ({ choice }: CommandTarget): string => (choice?.server ?? "").replace(/\/+$/, "");
  const groups = Map.groupBy(targets, serverOf);
  const leaders = new Map<string, Leader>();
  for (const [server, members] of groups)
    leaders.set(server, resources.use(createLeader({ isShared: members.length > 1, clock })));
  return (target) => leaders.get(serverOf(target)) ?? resources.use(createLeader({ clock }));
}

function recorderOf(
  { choice, remote, state }: CommandTarget,
  { standsBy }: Leader,
  { clock, signal, meter }: Parameters<typeof watchedTargets>[2],
): PassRecorder {
  const name = choice?.name ?? "default";
  return createPassRecorder({
    target: name,
    source: remote?.name ?? null,
    state,
    now: clock.now,
    standsBy,
    onApplied: (waitedMs) => meter?.applied(name, waitedMs),
    between: async (after, upTo) => (await remote?.between(after, upTo, { signal })) ?? [],
  });
}
