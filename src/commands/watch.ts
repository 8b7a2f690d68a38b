import { readFileSync } from "node:fs";
import { Secret } from "../contract/secret.ts";
import { HoldfastError } from "../core/errors.ts";
import { type DaemonControl, serveControl } from "../daemon/control-socket.ts";
import { runDaemon } from "../daemon/daemon.ts";
import type { Webhook } from "../daemon/http/webhooks.ts";
import { createTrigger } from "../daemon/loop.ts";
import { observers, type PassObserver } from "../daemon/observer.ts";
import { createPassRecorder, type PassRecorder } from "../daemon/pass-recorder.ts";
import { createLeader, type Leader } from "../engine/leader.ts";
import { printable } from "../render/escape.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import type { OpenTarget } from "./create-target.ts";
import type { watch } from "./declarations/watch.ts";
import { withLinePrefix } from "./line-prefix.ts";
import { openTargets } from "./target.ts";
import { commitStatusOf } from "./watch-commit-status.ts";
import { openNotifier } from "./watch-notifier.ts";
import { createWatchReporter } from "./watch-reporter.ts";
import { openWatchServer } from "./watch-server.ts";

const INTERVAL_S = 60;

/** Keeps live true to the manifests until asked to end. */
export async function run(invocation: InvocationOf<typeof watch>): Promise<number> {
  const { flags, terminal } = invocation;
  const { stopping, onHangup } = terminal;
  // One bad manifest does not stop the others.
  const unattended = { ...invocation, flags: { ...flags, partial: true } };
  await using opened = await openTargets(unattended, { reading: false, unattended: true });
  const active = opened.targets.filter(({ choice }) => choice?.sync !== "off");
  if (active.length === 0) throw nothingToDo();
  await using leaders = new AsyncDisposableStack();
  const leaderOf = leadersFor(active, leaders);
  const watching = active.map((target) => {
    const trigger = createTrigger();
    onHangup?.(trigger.ring);
    return { target, trigger, leader: leaderOf(target), recorder: recorderOf(target, terminal) };
  });
  await using _control = await openControl(opened.stateFolder, watching, terminal);
  await using http = await openWatchServer(invocation, webhooksOf(watching));
  await using notifier = await openNotifier(opened.operator, terminal);
  const observe = (target: OpenTarget): readonly PassObserver[] => {
    const name = target.choice?.name ?? "default";
    const notifying = notifier === null ? [] : [notifier.observe(name)];
    return [...http.observe(name), ...notifying, ...commitStatusOf(target, opened.operator, terminal)];
  };
  const isAlone = active.length === 1;
  await untilAllEnd(
    watching.map((one) => watchTarget(one, observe, isAlone ? invocation : withName(one.target, invocation))),
    terminal,
  );
  if (stopping.reason instanceof HoldfastError && stopping.reason.code === "terminated") return 0;
  throw stopping.reason;
}

type Watched = {
  readonly target: OpenTarget;
  readonly trigger: ReturnType<typeof createTrigger>;
  readonly leader: Leader;
  readonly recorder: PassRecorder;
};

function watchTarget(
  { target, trigger, leader, recorder }: Watched,
  observe: (target: OpenTarget) => readonly PassObserver[],
  invocation: Invocation,
): Promise<void> {
  const { tell, failure } = observers([createWatchReporter(invocation), recorder.observer, ...observe(target)]);
  const seconds = invocation.flags.interval ?? target.choice?.interval ?? INTERVAL_S;
  const sync = target.choice?.sync === "report" ? "report" : "heal";
  const context = {
    tell,
    intervalMs: seconds * 1000,
    trigger,
    leader,
    sync,
    onFailure: failure,
    onPassEnd: recorder.onPassEnd,
  } as const;
  return runDaemon(target, { ...invocation.terminal, ...context });
}

// What ends one of them for good ends the process, once the others have finished what is in flight.
async function untilAllEnd(daemons: readonly Promise<void>[], { stop }: Invocation["terminal"]): Promise<void> {
  const ends = await Promise.allSettled(
    daemons.map((daemon) =>
      daemon.catch((error: unknown) => {
        if (daemons.length > 1 && error instanceof HoldfastError) stop(error);
        throw error;
      }),
    ),
  );
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

// Targets of one control plane share a lease, since theirs could exclude each other.
function leadersFor(targets: readonly OpenTarget[], resources: AsyncDisposableStack): (target: OpenTarget) => Leader {
  const serverOf = ({ choice }: OpenTarget): string => (choice?.server ?? "").replace(/\/+$/, "");
  const groups = Map.groupBy(targets, serverOf);
  const leaders = new Map<string, Leader>();
  for (const [server, members] of groups)
    leaders.set(server, resources.use(createLeader({ isShared: members.length > 1 })));
  return (target) => leaders.get(serverOf(target)) ?? resources.use(createLeader());
}

function recorderOf(
  { choice, remote, state }: OpenTarget,
  { now, stopping: signal }: Invocation["terminal"],
): PassRecorder {
  return createPassRecorder({
    target: choice?.name ?? "default",
    source: remote?.name ?? null,
    folder: state.folder,
    now,
    between: async (after, upTo) => (await remote?.between(after, upTo, { signal })) ?? [],
  });
}

// Without it passes go on, and only `status` and `reconcile` know less.
async function openControl(
  stateFolder: string,
  watching: readonly Watched[],
  { stderr }: Invocation["terminal"],
): Promise<AsyncDisposable | null> {
  try {
    return await serveControl(stateFolder, controlOf(watching));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    stderr.write(`warning: the daemon has no socket for status and reconcile: ${printable(why)}\n`);
    return null;
  }
}

function controlOf(watching: readonly Watched[]): DaemonControl {
  return {
    status: () => watching.map(({ recorder }) => recorder.status()),
    reconcile: async (name) => {
      const chosen = watching.filter(({ target }) => name === null || target.choice?.name === name);
      await Promise.all(
        chosen.map(({ trigger, recorder }) => {
          const ended = recorder.nextPass();
          trigger.ring();
          return ended;
        }),
      );
    },
  };
}

// A push to a source concerns each target that follows it.
function webhooksOf(watching: readonly Watched[]): ReadonlyMap<string, Webhook> {
  const groups = Map.groupBy(watching, ({ target }) => target.choice?.source ?? null);
  return new Map(
    [...groups].flatMap(([source, members]) => {
      const file = source?.webhookSecretFile ?? null;
      if (source === null || file === null) return [];
      const ring = (): void => {
        for (const { trigger } of members) trigger.ring();
      };
      return [[source.name, { secret: () => secretIn(file), ring }] as const];
    }),
  );
}

function secretIn(file: string): Secret | null {
  try {
    const secret = readFileSync(file, "utf8").trim();
    return secret === "" ? null : new Secret(secret);
  } catch {
    // Nothing is accepted meanwhile, and polling goes on.
    return null;
  }
}

function withName({ choice }: OpenTarget, invocation: Invocation): Invocation {
  const { stdout, stderr } = invocation.terminal;
  const prefix = `${choice?.name ?? ""}: `;
  const named = { stdout: withLinePrefix(stdout, prefix), stderr: withLinePrefix(stderr, prefix) };
  return { ...invocation, terminal: { ...invocation.terminal, ...named } };
}

function nothingToDo(): HoldfastError {
  return new HoldfastError("invalid", "every target has `sync: off`", { hint: "set one of them to report or heal" });
}
