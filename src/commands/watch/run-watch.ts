import { hash } from "node:crypto";
import { errorMessage } from "../../contract/error-message.ts";
import { canonical } from "../../contract/json.ts";
import type { Secret } from "../../contract/secret.ts";
import { HoldfastError } from "../../core/errors.ts";
import { serveControl } from "../../daemon/control-socket.ts";
import { createDaemon, type Daemon, type DaemonRun, type DaemonTarget } from "../../daemon/daemon.ts";
import type { DatabaseWatch } from "../../daemon/database-watch.ts";
import { keptMemories, MOST_MANIFESTS, MOST_MANIFESTS_SHARED } from "../../daemon/kept-memories.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import type { PassQueue } from "../../daemon/pass-queue.ts";
import { isAtOrBelow } from "../../files/real-path.ts";
import { printable } from "../../render/escape.ts";
import { contentTop, isLinked } from "../../source/source-root.ts";
import { requireDatabaseKey } from "../../state/open-state.ts";
import { appliedRefPublisher, publishObserver } from "../apply/applied-ref-publisher.ts";
import type { Invocation } from "../command.ts";
import { type ConfiguredFile, configuredFiles, requireUsable, watchFiles } from "../configuration/configured-files.ts";
import { type OperatorFile, readOperatorFile } from "../configuration/read-operator-file.ts";
import { tell, tellFailure } from "../output/log-stream.ts";
import type { TargetChoice } from "../targets/choose-targets.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { type FoundTargets, findTargets, TargetNeededError } from "../targets/find-targets.ts";
import { serverNameOf } from "../targets/server-of-target.ts";
import type { SharedReads } from "../targets/shared-reads.ts";
import { DEFAULT_INTERVAL_S } from "../targets/stage-orders.ts";
import { readStateKey } from "../targets/target-state.ts";
import type { Terminal } from "../terminal.ts";
import { createDriftProposer } from "./drift-proposer.ts";
import { createPromotions, type Promotions } from "./follow-promotions.ts";
import { followTargets } from "./follow-targets.ts";
import type { WatchServer } from "./http-server.ts";
import { withName } from "./named-output.ts";
import { commitStatusObservers, receiversOf, type WatchNotifier } from "./notifier.ts";
import { openQueue } from "./open-queue.ts";
import { createWatchReporter } from "./watch-reporter.ts";

/** The targets of one configuration, ready to be watched. */
export type OpenWatch = AsyncDisposable & {
  readonly opened: FoundTargets;
  readonly operatorFile: OperatorFile;
  /** The database of the state; null where it is in a folder. */
  readonly database: DatabaseWatch | null;
  readonly daemon: Daemon;
  readonly promotions: Promotions;
  /** The targets that are watched. */
  readonly watching: readonly CommandTarget[];
  /** The configuration file and the files that the configuration names. */
  readonly files: readonly ConfiguredFile[];
  /** What its targets declare and remember, for the watch of other targets of the same configuration. */
  readonly kept: KeptOfTargets;
};

/** What the targets that stay keep where patterns stand for other targets now. */
type KeptOfTargets = { readonly memories: DaemonRun["memories"]; readonly shared: SharedReads };

/** The parts of `watch` that stay when the configuration changes. */
export type WatchContext = {
  readonly invocation: Invocation;
  readonly http: WatchServer;
  readonly notifier: WatchNotifier;
};

function secondsBetween({ choice }: CommandTarget, { flags }: Invocation): number {
  return flags.interval ?? choice?.interval ?? DEFAULT_INTERVAL_S;
}

function digestOfSource({ source, paths }: Pick<TargetChoice, "source" | "paths">): string | null {
  if (source === null) return null;
  const { address, ref } = source;
  return hash("sha256", canonical({ url: address.url, ref, paths: paths && [...paths] }), "hex");
}

/**
 * A digest of what the passes of a target are made with beside the commit. The rules have the flags; those that a repository sets are in its commit,
 * which a pattern may stand for other paths and servers with.
 */
function settingsOf(
  { choice, rules, state }: CommandTarget,
  { serverName, config }: { readonly serverName: string; readonly config: OperatorFile["config"] },
): () => string {
  const { rename, patches } = choice ?? {};
  const listed = (_: string, value: unknown): unknown =>
    value instanceof Set || value instanceof Map ? [...value] : value;
  const digestNow = (): string => {
    const source = choice === null ? null : digestOfSource(choice);
    const settings = JSON.stringify([config?.operator, serverName, source, rename, patches, rules({})], listed);
    return hash("sha256", `${state.build()} ${settings}`, "hex");
  };
  // Only fleets ask for it, and the text of it has the configuration of all targets.
  let digest: string | null = null;
  return () => {
    digest ??= digestNow();
    return digest;
  };
}

function daemonTarget(
  target: CommandTarget,
  opened: FoundTargets,
  {
    invocation,
    operatorFile,
    meter,
  }: { readonly invocation: Invocation; readonly operatorFile: OperatorFile } & Pick<WatchServer, "meter">,
): DaemonTarget {
  const { operator } = opened;
  const { name, choice, remote } = target;
  const drift = createDriftProposer({ target, opened, invocation, meter });
  const { signal } = invocation.terminal;
  const seconds = secondsBetween(target, invocation);
  const serverName = serverNameOf(choice, operator, invocation);
  return {
    name,
    target: drift === null ? target : { ...target, drift },
    fault: choice?.fault ?? null,
    source: remote?.name ?? null,
    between: async (after, upTo) => (await remote?.between(after, upTo, { signal })) ?? [],
    server: choice?.server ?? null,
    serverName,
    sourceDigest: choice === null ? null : digestOfSource(choice),
    settingsDigest: settingsOf(target, { serverName, config: operatorFile.config }),
    sync: choice?.sync === "report" ? "report" : "heal",
    intervalMs: seconds * 1000,
    driftIntervalMs: (choice?.driftInterval ?? seconds) * 1000,
  };
}

/** Opens the targets of a configuration and refuses an invalid one; no pass runs yet. */
export async function openWatch(
  context: WatchContext,
  operatorFile: OperatorFile,
  earlier: OpenWatch | null = null,
): Promise<OpenWatch> {
  const { invocation, http } = context;
  const { terminal } = invocation;
  const { meter } = http;
  // One bad manifest does not stop the others.
  const use = { reading: false, unattended: true, follows: true, operatorFile: operatorFile.config, meter } as const;
  const { claims } = earlier?.kept.shared ?? {};
  const shared: SharedReads = { remotes: new Map(), ...(claims === undefined ? {} : { claims }) };
  const unattended = { ...invocation, flags: { ...invocation.flags, partial: true }, shared };
  await using resources = new AsyncDisposableStack();
  const opened = resources.use(await findTargets(unattended, use));
  const active = opened.targets.filter(({ choice }) => choice?.sync !== "off" && !choice?.isRetired);
  if (active.length === 0) throw nothingToDo(opened.targets.every(({ choice }) => choice?.isRetired));
  for (const target of active) {
    requireLastingState(target);
    refuseApprovals(target);
  }
  // In a fleet, the passes that a process without the key takes would be lost to the others.
  if (opened.database !== null) await requireDatabaseKey(opened.database, readStateKey(terminal));
  const { operator } = opened;
  receiversOf(operator.notifications, terminal.cwd);
  const followers = new Map(
    active.map((target) => {
      const named = withName(target, { invocation, isAlone: active.length === 1 });
      const publishing = publishObserver(resources.use(appliedRefPublisher(target, named, meter)));
      const statuses = commitStatusObservers(target, operator, { ...named.terminal, meter });
      const reporting = (): PassObserver => reporterOf(target, named);
      return [target.name, { statuses, publishing, reporting }];
    }),
  );
  const database = opened.database === null ? null : resources.use(await databaseWatchOf(opened.database, terminal));
  const promotions = createPromotions(operator, { invocation, operatorFile: operatorFile.config, shared, meter });
  const queue = resources.use(await openQueue(opened, active, invocation));
  const daemon = resources.use(
    createDaemon(
      {
        targets: active.map((target) => daemonTarget(target, opened, { invocation, operatorFile, meter })),
        database,
        serve: (control) => serveControl(opened.stateFolder, control),
        queue,
        observers: {
          of: (name) => [...observersOf(name, followers.get(name), context), ...promotions.observe(name)],
          onWarning: terminal.warnings.add,
        },
      },
      terminal,
    ),
  );
  opened.orders.follow((names) => {
    for (const view of daemon.targets) if (names.includes(view.name)) view.fireForChanges("retry");
  });
  const owned = resources.move();
  return {
    opened,
    operatorFile,
    database,
    daemon,
    promotions,
    watching: active,
    files: configuredFiles(active, operator, operatorFile, invocation),
    kept: { memories: memoriesFor(active, earlier, queue), shared },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

// Nobody approves the plans of a daemon, so it would write nothing.
function refuseApprovals({ name, choice, rules }: CommandTarget): void {
  if (choice?.sync === "report" || rules({}).approvals === null) return;
  const message = `target ${name} needs approved plans, which watch does not wait for`;
  const hint = "give the target `sync: report`, and apply with holdfast apply --plan; or leave `approvals` out for it";
  throw new HoldfastError("refused", message, { hint });
}

// Loaded here, so that a daemon with a state folder does not load it.
async function databaseWatchOf(address: Secret, { clock }: Terminal): Promise<DatabaseWatch> {
  const { watchDatabase } = await import("../../daemon/database-watch.ts");
  return watchDatabase(address, clock);
}

// A target that reads another part of its source, or has another control plane, begins anew.
function memoriesFor(
  targets: readonly CommandTarget[],
  earlier: OpenWatch | null,
  { machine }: PassQueue,
): KeptOfTargets["memories"] {
  if (earlier === null) return keptMemories(machine === null ? MOST_MANIFESTS : MOST_MANIFESTS_SHARED);
  const partOf = ({ choice }: CommandTarget): string => JSON.stringify([choice?.paths, choice?.server]);
  const before = new Map(earlier.watching.map((target) => [target.name, partOf(target)]));
  const same = targets.filter((target) => before.get(target.name) === partOf(target));
  return earlier.kept.memories.only(same.map(({ name }) => name));
}

/** How the watch of a configuration ended. */
type WatchEnd =
  | { readonly is: "stopped" }
  | { readonly is: "replaced"; readonly next: OpenWatch }
  | { readonly is: "failed"; readonly error: unknown };

/** Watches the targets of a configuration until the process is asked to stop or a changed configuration replaces it. */
export async function runWatch(watch: OpenWatch, context: WatchContext, isReloaded: boolean): Promise<WatchEnd> {
  const { invocation, http, notifier } = context;
  const { terminal } = invocation;
  const { opened, database, daemon, promotions, watching } = watch;
  const retired = opened.targets.filter(({ choice }) => choice?.isRetired);
  const { memories } = watch.kept;
  const lastRead = (name: string) => memories.latest(name)?.lastApplied ?? null;
  http.show(daemon.targets, { watching, retired, database, lastRead }, opened);
  await notifier.configure(opened.operator);
  const replaced = new AbortController();
  const ended = new AbortController();
  let next: OpenWatch | null = null;
  const replaceBy = async (open: () => Promise<OpenWatch | null>): Promise<void> => {
    const opened = next === null ? await open() : null;
    if (opened === null) return;
    // The configuration and the patterns may have changed at the same time; both are read as they are now.
    if (next !== null) return opened[Symbol.asyncDispose]();
    next = opened;
    ended.abort();
    replaced.abort();
    // New targets look at everything, and those that stay at what has changed.
    for (const view of daemon.targets) view.fireForChanges("configuration");
  };
  const replace = (changed: readonly string[]): Promise<void> => replaceBy(() => openChanged(changed, watch, context));
  const signal = AbortSignal.any([terminal.stopping, ended.signal]);
  const watchingFiles = watchFiles(watch.files, replace, { clock: terminal.clock, signal });
  const followingTargets = followTargets(
    opened.patterns,
    { onChange: () => replaceBy(() => openOtherTargets(watch, context)), onKept: tellKept(context) },
    { clock: terminal.clock, signal },
  );
  const promoting = promotions.run({ clock: terminal.clock, signal });
  // Until a configuration has worked, a target that fails for good ends the process.
  const onTargetFailed = (error: HoldfastError): void => {
    if (!isReloaded) terminal.stop(error);
  };
  const end = await daemon.run({ replaced: replaced.signal, isReloaded, memories, onTargetFailed }).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  ended.abort();
  await watchingFiles;
  await followingTargets;
  await promoting;
  return endOf(end, next, terminal);
}

type Followers = {
  readonly statuses: readonly PassObserver[];
  readonly publishing: PassObserver;
  /** Begins to report in the output of the command. */
  readonly reporting: () => PassObserver;
};

function observersOf(
  name: string,
  own: Followers | undefined,
  { http, notifier }: WatchContext,
): readonly PassObserver[] {
  const followers = own === undefined ? [] : [own.reporting(), ...own.statuses, own.publishing];
  return [...followers, ...http.observe(name), ...notifier.observe(name)];
}

function reporterOf(target: CommandTarget, named: Invocation): PassObserver {
  const reporter = createWatchReporter(named, target.choice?.name ?? null);
  reporter.started(secondsBetween(target, named));
  return reporter;
}

async function endOf(
  failure: { readonly error: unknown } | null,
  next: OpenWatch | null,
  { stopping }: Invocation["terminal"],
): Promise<WatchEnd> {
  if (next !== null && failure === null && !stopping.aborted) return { is: "replaced", next };
  await next?.[Symbol.asyncDispose]();
  return failure === null ? { is: "stopped" } : { is: "failed", error: failure.error };
}

async function openOtherTargets(watch: OpenWatch, context: WatchContext): Promise<OpenWatch | null> {
  const { terminal } = context.invocation;
  try {
    const next = await openWatch(context, watch.operatorFile, watch);
    const namesOf = ({ watching }: OpenWatch): readonly string[] => watching.map(({ name }) => name);
    const [before, now] = [namesOf(watch), namesOf(next)];
    const added = now.filter((name) => !before.includes(name)).map((name) => `+${name}`);
    const retired = before.filter((name) => !now.includes(name)).map((name) => `-${name}`);
    const message = `the targets have changed: ${[...added, ...retired].join(", ") || "other parts or servers"}`;
    tell(terminal.stderr, { event: "targets-changed", message }, () => `${message}\n`);
    return next;
  } catch (error) {
    if (!terminal.stopping.aborted) tellKept(context)(errorMessage(error));
    return null;
  }
}

function tellKept({ invocation, notifier }: WatchContext): (why: string) => void {
  return (why) => {
    const message = `the targets stay as they were: ${printable(why)}`;
    tellFailure(invocation.terminal.stderr, "targets-kept", { message, hint: "correct the source" });
    notifier.send({ event: "configuration-refused", target: null, revision: null, summary: message, details: [] });
  };
}

// An unusable configuration is reported and changes nothing else.
async function openChanged(
  changed: readonly string[],
  { files }: OpenWatch,
  context: WatchContext,
): Promise<OpenWatch | null> {
  const { invocation, http, notifier } = context;
  const { stderr } = invocation.terminal;
  const names = changed.join(", ");
  const notify = (event: "configuration-refused" | "configuration-reloaded", summary: string): void =>
    notifier.send({ event, target: null, revision: null, summary, details: changed });
  try {
    requireUsable(files);
    const next = await openWatch(context, await readOperatorFile(invocation));
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
    const hint = `the last valid one stays in force; correct ${names}`;
    tellFailure(stderr, "configuration-refused", { message, hint });
    notify("configuration-refused", message);
    http.configured(why);
    return null;
  }
}

// A git-sync sidecar removes the folder of the previous link target, and a state folder in it.
function requireLastingState({ remote, source: { root }, state: { folder } }: CommandTarget): void {
  if (remote !== null || !isLinked(root) || !isAtOrBelow(contentTop(root), folder)) return;
  throw new HoldfastError("invalid", `the state folder ${folder} lies in a source that the link ${root} leads to`, {
    hint: "name a folder elsewhere with --state: this one is lost when the link is swapped",
  });
}

function nothingToDo(hasNoTargets: boolean): HoldfastError {
  if (hasNoTargets) return new TargetNeededError([]);
  return new HoldfastError("invalid", "every target has `sync: off`", { hint: "set one of them to report or heal" });
}
