import { errorMessage } from "../../contract/error-message.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { PassCause } from "../../daemon/loop.ts";
import type { Meter } from "../../daemon/meter.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { isAtOrBelow } from "../../files/real-path.ts";
import { printable } from "../../render/escape.ts";
import { contentTop, isLinked } from "../../source/source-root.ts";
import { appliedRefPublisher, publishObserver } from "../apply/applied-ref-publisher.ts";
import type { Invocation } from "../command.ts";
import { type ConfiguredFile, configuredFiles, requireUsable, watchFiles } from "../configuration/configured-files.ts";
import { type OperatorFile, readOperatorFile } from "../configuration/read-operator-file.ts";
import { tell, tellFailure, withTarget } from "../output/log-stream.ts";
import { terminalViewOf } from "../output/terminal-view.ts";
import { withLinePrefix } from "../output/with-line-prefix.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { type FoundTargets, findTargets } from "../targets/find-targets.ts";
import { printedOn } from "../terminal.ts";
import type { WatchServer } from "./http-server.ts";
import { commitStatusObservers, receiversOf, type WatchNotifier } from "./notifier.ts";
import { serveCommands } from "./serve-commands.ts";
import { type WatchedTarget, watchedTargets, watchTarget } from "./watched-target.ts";

/** The targets of one configuration, ready to be watched. */
export type OpenWatch = AsyncDisposable & {
  readonly opened: FoundTargets;
  readonly operatorFile: OperatorFile;
  readonly watching: readonly WatchedTarget[];
  /** The configuration file and the files that the configuration names. */
  readonly files: readonly ConfiguredFile[];
  /** Triggers a pass of each target. */
  readonly fire: (cause: PassCause) => void;
  /** Whether a pass with this configuration has ended. */
  readonly hasWorked: () => boolean;
  readonly observers: (target: CommandTarget) => readonly PassObserver[];
};

/** Opens the targets of a configuration and refuses an invalid one; no pass runs yet. */
export async function openWatch(
  invocation: Invocation,
  { operatorFile, meter }: Pick<OpenWatch, "operatorFile"> & { readonly meter: Meter | undefined },
): Promise<OpenWatch> {
  const { terminal } = invocation;
  // One bad manifest does not stop the others.
  const use = { reading: false, unattended: true, operatorFile: operatorFile.config, meter } as const;
  const unattended = { ...invocation, flags: { ...invocation.flags, partial: true } };
  await using resources = new AsyncDisposableStack();
  const opened = resources.use(await findTargets(unattended, use));
  const active = opened.targets.filter(({ choice }) => choice?.sync !== "off");
  if (active.length === 0) throw nothingToDo();
  for (const target of active) requireLastingState(target);
  const watching = watchedTargets(active, resources, { ...terminal, meter });
  const { operator } = opened;
  receiversOf(operator.notifications, terminal.cwd);
  const followers = new Map(
    active.map((target) => {
      const named = withName(target, { invocation, isAlone: active.length === 1 });
      const publishing = publishObserver(resources.use(appliedRefPublisher(target, named, meter)));
      return [target, [...commitStatusObservers(target, operator, { ...named.terminal, meter }), publishing]];
    }),
  );
  let hasWorked = false;
  const workObserver: PassObserver = {
    emit: ({ what }) => {
      hasWorked ||= what === "applied" || what === "planned" || what === "standing-by";
    },
    failure: () => {},
  };
  const owned = resources.move();
  return {
    opened,
    operatorFile,
    watching,
    files: configuredFiles(active, operator, operatorFile, invocation),
    fire: (cause) => {
      for (const { trigger } of watching) trigger.fire(cause);
    },
    hasWorked: () => hasWorked,
    observers: (target) => [workObserver, ...(followers.get(target) ?? [])],
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The parts of `watch` that stay when the configuration changes. */
type WatchContext = {
  readonly invocation: Invocation;
  readonly http: WatchServer;
  readonly notifier: WatchNotifier;
  readonly isReloaded: boolean;
};

/** How the watch of a configuration ended. */
type WatchEnd =
  | { readonly is: "stopped" }
  | { readonly is: "replaced"; readonly next: OpenWatch }
  | { readonly is: "failed"; readonly error: unknown };

/** Watches the targets of a configuration until the process is asked to stop or a changed configuration replaces it. */
export async function runWatch(watch: OpenWatch, context: WatchContext): Promise<WatchEnd> {
  const { invocation, http, notifier, isReloaded } = context;
  const { terminal } = invocation;
  const { opened, watching } = watch;
  await using control = serveCommands(opened.stateFolder, watching, terminal);
  await control.open();
  const takeoverObserver: PassObserver = {
    emit: ({ what }) => {
      // The daemon that served the socket before has ended.
      if (what === "taking-over") void control.open();
    },
    failure: () => {},
  };
  http.show(watching, opened.operator);
  await notifier.configure(opened.operator);
  const replaced = new AbortController();
  const ended = new AbortController();
  let next: OpenWatch | null = null;
  const replace = async (changed: readonly string[]): Promise<void> => {
    next = await openChanged(changed, watch, context);
    if (next === null) return;
    ended.abort();
    replaced.abort();
    watch.fire("configuration");
  };
  const signal = AbortSignal.any([terminal.stopping, ended.signal]);
  const watchingFiles = watchFiles(watch.files, replace, { clock: terminal.clock, signal });
  const observe = (target: CommandTarget): readonly PassObserver[] => {
    const name = target.choice?.name ?? "default";
    return [...http.observe(name), ...notifier.observe(name), ...watch.observers(target), takeoverObserver];
  };
  const start = (one: WatchedTarget): Promise<void> =>
    watchTarget(one, observe, withName(one.target, { invocation, isAlone: watching.length === 1 }), {
      replaced: replaced.signal,
      isReloaded,
    });
  // When one target fails for good, the others finish the pass in progress and end.
  const stopOthers = (error: HoldfastError): void => {
    if (!isReloaded) terminal.stop(error);
    replaced.abort();
    watch.fire("configuration");
  };
  const failure = await firstFailure(watching.map(start), stopOthers);
  ended.abort();
  await watchingFiles;
  return endOf(failure, next, terminal);
}

async function endOf(
  failure: PromiseRejectedResult | null,
  next: OpenWatch | null,
  { stopping }: Invocation["terminal"],
): Promise<WatchEnd> {
  if (next !== null && failure === null && !stopping.aborted) return { is: "replaced", next };
  await next?.[Symbol.asyncDispose]();
  return failure === null ? { is: "stopped" } : { is: "failed", error: failure.reason };
}

async function firstFailure(
  daemons: readonly Promise<void>[],
  stopOthers: (error: HoldfastError) => void,
): Promise<PromiseRejectedResult | null> {
  const ends = await Promise.allSettled(
    daemons.map((daemon) =>
      daemon.catch((error: unknown) => {
        if (daemons.length > 1 && error instanceof HoldfastError) stopOthers(error);
        throw error;
      }),
    ),
  );
  return ends.find((end) => end.status === "rejected") ?? null;
}

// An unusable configuration is reported and changes nothing else.
async function openChanged(
  changed: readonly string[],
  { files }: OpenWatch,
  { invocation, http, notifier }: WatchContext,
): Promise<OpenWatch | null> {
  const { stderr } = invocation.terminal;
  const names = changed.join(", ");
  const notify = (event: "configuration-refused" | "configuration-reloaded", summary: string): void =>
    notifier.send({ event, target: null, revision: null, summary, details: changed });
  try {
    requireUsable(files);
    const next = await openWatch(invocation, {
      operatorFile: await readOperatorFile(invocation),
      meter: http.meter,
    });
    requireUsable(next.files);
    const message = `configuration reloaded: ${names} has changed`;
    tell(stderr, { event: "configuration-reloaded", message }, () => `${message}\n`);
    notify("configuration-reloaded", "the configuration was reloaded");
    http.configured(null);
    return next;
  } catch (error) {
    if (invocation.terminal.stopping.aborted) return null;
    const why = printable(errorMessage(error));
    const message = `the changed configuration is refused: ${why}`;
    const hint = `the last good one stays in force; correct ${names}`;
    tellFailure(stderr, "configuration-refused", { message, hint });
    notify("configuration-refused", message);
    http.configured(why);
    return null;
  }
}

// Text names the target only where there are several; a log always does.
function withName(
  { choice }: CommandTarget,
  { invocation, isAlone }: { readonly invocation: Invocation; readonly isAlone: boolean },
): Invocation {
  const { stdout, stderr } = invocation.terminal;
  const name = choice?.name ?? "default";
  const prefix = `${name}: `;
  // JSON output needs no prefix: each line has a `target` field.
  const isText = !isAlone && terminalViewOf(invocation).output !== "json";
  const shown = isText ? withLinePrefix(stdout, prefix) : stdout;
  const text = isAlone ? stderr : withLinePrefix(stderr, prefix);
  const named = printedOn(withTarget(stderr, name) ?? text, invocation.terminal);
  return { ...invocation, terminal: { ...named, stdout: shown } };
}

// A git-sync sidecar removes the folder of the previous link target, and a state folder in it.
function requireLastingState({ remote, source: { root }, state: { folder } }: CommandTarget): void {
  if (remote !== null || !isLinked(root) || !isAtOrBelow(contentTop(root), folder)) return;
  throw new HoldfastError("invalid", `the state folder ${folder} lies in a source that the link ${root} leads to`, {
    hint: "name a folder elsewhere with --state: this one is lost when the link is swapped",
  });
}

function nothingToDo(): HoldfastError {
  return new HoldfastError("invalid", "every target has `sync: off`", { hint: "set one of them to report or heal" });
}
