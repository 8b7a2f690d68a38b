import { HoldfastError } from "../core/errors.ts";
import type { PassObserver } from "../daemon/observer.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import type { OpenTarget } from "./create-target.ts";
import type { watch } from "./declarations/watch.ts";
import { withLinePrefix } from "./line-prefix.ts";
import { openTargets } from "./target.ts";
import { commitStatusOf } from "./watch-commit-status.ts";
import { openControl } from "./watch-control.ts";
import { openNotifier } from "./watch-notifier.ts";
import { openWatchServer } from "./watch-server.ts";
import { webhooksOf } from "./watch-webhooks.ts";
import { watchedTargets, watchTarget } from "./watched-target.ts";

/** Keeps live true to the manifests until asked to end. */
export async function run(invocation: InvocationOf<typeof watch>): Promise<number> {
  const { flags, terminal } = invocation;
  const { stopping } = terminal;
  // One bad manifest does not stop the others.
  const unattended = { ...invocation, flags: { ...flags, partial: true } };
  await using opened = await openTargets(unattended, { reading: false, unattended: true });
  const active = opened.targets.filter(({ choice }) => choice?.sync !== "off");
  if (active.length === 0) throw nothingToDo();
  await using leaders = new AsyncDisposableStack();
  const watching = watchedTargets(active, leaders, terminal);
  await using _control = await openControl(opened.stateFolder, watching, terminal);
  await using http = await openWatchServer(invocation, webhooksOf(watching), watching);
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

function withName({ choice }: OpenTarget, invocation: Invocation): Invocation {
  const { stdout, stderr } = invocation.terminal;
  const prefix = `${choice?.name ?? ""}: `;
  const named = { stdout: withLinePrefix(stdout, prefix), stderr: withLinePrefix(stderr, prefix) };
  return { ...invocation, terminal: { ...invocation.terminal, ...named } };
}

function nothingToDo(): HoldfastError {
  return new HoldfastError("invalid", "every target has `sync: off`", { hint: "set one of them to report or heal" });
}
