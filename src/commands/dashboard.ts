import { errorMessage } from "../contract/error-message.ts";
import { HoldfastError } from "../core/errors.ts";
import type { TargetStatus } from "../core/report/target-status.ts";
import type { DashboardSource } from "../daemon/api/dashboard-source.ts";
import { askDaemon, type DaemonReply } from "../daemon/control-socket.ts";
import type { DatabaseWatch } from "../daemon/database-watch.ts";
import { isLoopback } from "../http/loopback.ts";
import { printable } from "../render/escape.ts";
import type { InvocationOf } from "./command.ts";
import { type ConfiguredFile, configuredFiles, watchFiles } from "./configuration/configured-files.ts";
import { pageTokenReader } from "./configuration/page-token.ts";
import { readOperatorFile } from "./configuration/read-operator-file.ts";
import type { dashboard } from "./declarations/dashboard.ts";
import { listenAddress } from "./flags/listen-address.ts";
import { logStopRequest, sayStopped } from "./output/lifecycle.ts";
import { tell, tellFailure } from "./output/log-stream.ts";
import { terminalLog } from "./output/terminal-log.ts";
import { RECORDED_TARGETS } from "./targets/create-target.ts";
import { dashboardSource } from "./targets/dashboard-targets.ts";
import { resourceExplainer } from "./targets/explain-resource.ts";
import { type FoundTargets, findTargets } from "./targets/find-targets.ts";
import { referenceReader } from "./targets/read-references.ts";
import { storedStatus } from "./targets/stored-status.ts";
import { type Terminal, writeResult } from "./terminal.ts";

/** Serves the dashboard of a state, whether a daemon runs with it or not, until it is stopped; a changed configuration is read again. */
export async function run(invocation: InvocationOf<typeof dashboard>): Promise<number> {
  const { flags, terminal } = invocation;
  const { clock, random, stopping } = terminal;
  const { host, port } = listenAddress(flags.listen ?? "127.0.0.1:0");
  if (!isLoopback(host)) {
    throw new HoldfastError("invalid", `--listen ${flags.listen} is reachable from other machines`, {
      hint: "name an address of loopback, such as 127.0.0.1:7074; a daemon serves the dashboard to others, with a token",
    });
  }
  const { startDashboardServer } = await import("../daemon/http/dashboard-server.ts");
  let current = await openDashboard(invocation);
  // Replies in progress may read what a configuration that was replaced has opened.
  let replaced: OpenDashboard | null = null;
  await using _ = {
    [Symbol.asyncDispose]: async () => {
      await replaced?.[Symbol.asyncDispose]();
      await current[Symbol.asyncDispose]();
    },
  };
  const log = terminalLog(invocation);
  await using server = await startDashboardServer({
    ...{ host, port, log, clock, random, stopping },
    token: pageTokenReader(terminal),
    build: { version: terminal.version, commit: terminal.commit() },
    // Others change the state, nobody but this machine reads it here, and nobody acts.
    source: {
      targets: () => current.source.targets(),
      stages: (statuses) => current.source.stages(statuses),
      plans: () => current.source.plans?.() ?? null,
      isShared: () => true,
      access: () => "loopback",
      hosts: () => [],
    },
    stateLostSince: () => current.database?.lostSince(),
  });
  logStopRequest(terminal, log);
  await writeResult(terminal, `dashboard on ${server.url}\n`);
  const replace = async ([changed = ""]: readonly string[]): Promise<void> => {
    const next = await openChanged(invocation, changed, server.configured);
    if (next === null) return;
    await replaced?.[Symbol.asyncDispose]();
    [replaced, current] = [current, next];
    server.configured(null);
  };
  await Promise.all([
    watchFiles(current.files, replace, { clock, signal: stopping }),
    new Promise<void>((done) => {
      if (stopping.aborted) done();
      stopping.addEventListener("abort", () => done(), { once: true });
    }),
  ]);
  const { reason } = stopping;
  if (!(reason instanceof HoldfastError && reason.code === "terminated")) throw reason;
  sayStopped(terminal, log);
  return 0;
}

/** What is shown of one configuration. */
type OpenDashboard = AsyncDisposable & {
  readonly source: DashboardSource;
  readonly database: DatabaseWatch | null;
  /** The configuration file, if one is named. */
  readonly files: readonly ConfiguredFile[];
};

async function openDashboard(invocation: InvocationOf<typeof dashboard>): Promise<OpenDashboard> {
  const { terminal } = invocation;
  const { clock, stopping } = terminal;
  await using resources = new AsyncDisposableStack();
  const operatorFile = await readOperatorFile(invocation);
  const opened = resources.use(
    await findTargets(invocation, { ...RECORDED_TARGETS, operatorFile: operatorFile.config }),
  );
  // A state that cannot be used is refused here, as by `status`.
  await Promise.all(opened.targets.map((target) => storedStatus(target, clock.now())));
  const watched = await databaseWatchOf(opened, terminal);
  const database = watched === null ? null : resources.use(watched);
  const source = dashboardSource(opened, {
    said: statusesOfDaemon(opened, terminal),
    carryOut: () => null,
    hasLease: () => false,
    reading: (reading) => database?.read(reading) ?? reading(),
    explain: resourceExplainer(opened, { lastRead: () => null, terminal }),
    references: referenceReader(opened, { lastRead: () => null, terminal }),
    stopping,
    now: clock.now,
  });
  const files = configuredFiles(opened.targets, opened.operator, operatorFile, invocation);
  const kept = resources.move();
  return {
    ...{ source, database, files: files.filter(({ holds }) => holds === "configuration") },
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  };
}

// One that cannot be used is told, and the last one stays in force.
async function openChanged(
  invocation: InvocationOf<typeof dashboard>,
  changed: string,
  onRefused: (why: string) => void,
): Promise<OpenDashboard | null> {
  const { stderr, stopping } = invocation.terminal;
  try {
    const next = await openDashboard(invocation);
    const message = `configuration reloaded: ${changed} has changed`;
    tell(stderr, { event: "configuration-reloaded", message }, () => `${message}\n`);
    return next;
  } catch (error) {
    if (stopping.aborted) return null;
    const why = printable(errorMessage(error));
    const hint = `the last valid one stays in force; correct ${changed}`;
    tellFailure(stderr, "configuration-refused", { message: `the changed configuration is refused: ${why}`, hint });
    onRefused(why);
    return null;
  }
}

async function databaseWatchOf({ database }: FoundTargets, { clock }: Terminal): Promise<DatabaseWatch | null> {
  if (database === null) return null;
  const { watchDatabase } = await import("../daemon/database-watch.ts");
  return watchDatabase(database, clock);
}

/** One request of the page reads all targets. */
const ASKED_AGAIN_MS = 500;

/** What the daemon that runs with the state says of a target; null where none watches it. */
function statusesOfDaemon(
  { stateFolder, targets }: FoundTargets,
  { clock, signal }: Terminal,
): (target: string) => Promise<TargetStatus | null> {
  let last: { readonly at: number; readonly asking: Promise<DaemonReply | null> } | null = null;
  const ask = (): Promise<DaemonReply | null> => {
    const at = clock.monotonic();
    if (last === null || at - last.at > ASKED_AGAIN_MS) {
      // A daemon that ends meanwhile has stored what it knows.
      const asking = askDaemon(stateFolder, { method: "GET", path: "/status" }, { signal }).catch(() => null);
      last = { at, asking };
    }
    return last.asking;
  };
  const retired = new Set(targets.flatMap(({ name, choice }) => (choice?.isRetired ? [name] : [])));
  return async (name) => {
    if (retired.has(name)) return null;
    return (await ask())?.targets.find(({ target }) => target === name) ?? null;
  };
}
