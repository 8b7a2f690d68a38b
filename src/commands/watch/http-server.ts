import { resolve } from "node:path";
import type { Secret } from "../../contract/secret.ts";
import { nothingShown } from "../../daemon/api/dashboard-source.ts";
import type { DaemonView } from "../../daemon/daemon.ts";
import type { DatabaseWatch } from "../../daemon/database-watch.ts";
import type { Webhook } from "../../daemon/http/webhooks.ts";
import type { Meter } from "../../daemon/meter.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import type { Invocation } from "../command.ts";
import { pageTokenReader } from "../configuration/page-token.ts";
import { secretFileReader } from "../configuration/secret-file.ts";
import { signInSettings } from "../configuration/sign-in-settings.ts";
import { listenAddress } from "../flags/listen-address.ts";
import { tell } from "../output/log-stream.ts";
import { terminalLog } from "../output/terminal-log.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { dashboardSource } from "../targets/dashboard-targets.ts";
import { type ExplainerOptions, resourceExplainer } from "../targets/explain-resource.ts";
import type { FoundTargets } from "../targets/find-targets.ts";
import { referenceReader } from "../targets/read-references.ts";
import { retiredTargetStatus, retiredTargetUnread } from "../targets/retired-target.ts";
import { storedGates } from "../targets/stored-gates.ts";
import type { Terminal } from "../terminal.ts";

/** The HTTP server of `watch`. */
export type WatchServer = AsyncDisposable & {
  /** Serves these targets, their webhooks and receivers from now on, and drops all others. */
  readonly show: (shown: readonly DaemonView[], targets: ShownTargets, opened: FoundTargets) => void;
  readonly observe: (target: string) => readonly PassObserver[];
  /** Measures network requests; undefined if there is no server to show the metrics. */
  readonly meter: Meter | undefined;
  /** Sets why the latest configuration is refused; null if it is in force. */
  readonly configured: (refusal: string | null) => void;
};

/** What is shown of a configuration. */
type ShownTargets = {
  /** The targets that are watched. */
  readonly watching: readonly CommandTarget[];
  /** Those that are only shown because their pattern no longer stands for them. */
  readonly retired: readonly CommandTarget[];
  /** The database of their state; null where it is in a folder. */
  readonly database: DatabaseWatch | null;
  /** What the last pass of a target has read; null where this process does not remember it. */
  readonly lastRead: ExplainerOptions["lastRead"];
};

/** Starts the HTTP server of `watch` if `--listen` names an address; otherwise returns one that does nothing. */
export async function openWatchServer(invocation: Invocation<"listen">): Promise<WatchServer> {
  const { flags, terminal } = invocation;
  if (flags.listen === undefined) return noServer;
  const { host, port } = listenAddress(flags.listen);
  // Loaded here, so that `watch` without `--listen` does not load the server.
  const { startDaemonServer } = await import("../../daemon/http/daemon-server.ts");
  const { clock, random, stopping } = terminal;
  let shown: readonly DaemonView[] = [];
  let retired: readonly CommandTarget[] = [];
  let database: DatabaseWatch | null = null;
  const reading = <Read>(read: () => Promise<Read>): Promise<Read | null> => database?.read(read) ?? read();
  let byName: ReadonlyMap<string, CommandTarget> = new Map();
  let hooks: ReadonlyMap<string, Webhook> = new Map();
  let dashboard = nothingShown;
  const server = await startDaemonServer({
    host,
    port,
    log: terminalLog(invocation),
    clock,
    random,
    stopping,
    hookOf: (source) => hooks.get(source),
    token: pageTokenReader(terminal),
    build: { version: terminal.version, commit: terminal.commit() },
    targets: () =>
      Promise.all([
        ...shown.map(async ({ status, latest, hasLease }) => ({
          status: await status(),
          passes: await latest(),
          hasLease: hasLease(),
        })),
        ...retired.map(async (target) => ({
          status: (await reading(() => retiredTargetStatus(target, clock.now()))) ?? retiredTargetUnread(target),
          passes: [],
          hasLease: false,
        })),
      ]),
    stateLostSince: () => database?.lostSince(),
    dashboard: {
      targets: () => dashboard.targets(),
      stages: (statuses) => dashboard.stages(statuses),
      isShared: () => dashboard.isShared(),
      access: () => dashboard.access(),
      signIn: () => dashboard.signIn?.() ?? null,
      hosts: () => dashboard.hosts(),
      plans: () => dashboard.plans?.() ?? null,
    },
    gates: async (target) => {
      const found = byName.get(target);
      return found === undefined ? {} : ((await reading(() => storedGates(found))) ?? {});
    },
  });
  let isAnnounced = false;
  return {
    show: (views, { watching, lastRead, ...others }, opened) => {
      const { notifications = [] } = opened.operator;
      const message = `health and metrics on ${server.url}`;
      if (!isAnnounced) tell(terminal.stderr, { event: "listening", message, url: server.url }, () => `${message}\n`);
      isAnnounced = true;
      shown = views;
      ({ retired, database } = others);
      const viewOf = (target: string): DaemonView | undefined => views.find(({ name }) => name === target);
      dashboard = dashboardSource(opened, {
        said: async (target) => (await viewOf(target)?.status()) ?? null,
        carryOut: (target) => viewOf(target)?.carryOut ?? null,
        hasLease: (target) => viewOf(target)?.hasLease() ?? false,
        reading,
        explain: resourceExplainer(opened, { lastRead, terminal }),
        references: referenceReader(opened, { lastRead, terminal }),
        stopping,
        now: clock.now,
        signIn: signInSettings(opened.operator, terminal),
        plansToken: tokenFileReader(opened.operator.dashboard?.plansTokenFile, terminal),
      });
      byName = new Map([...retired, ...watching].map((one) => [one.name, one]));
      hooks = webhooksOf(views, watching);
      server.watch({
        targets: views.map(({ name }) => name),
        sources: [...new Set(watching.flatMap(({ choice }) => choice?.source?.name ?? []))],
        receivers: notifications.map(({ name }) => name),
      });
    },
    observe: (target) => [server.observe(target)],
    meter: server.meter,
    configured: server.configured,
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  };
}

const noServer: WatchServer = {
  show: () => {},
  observe: () => [],
  meter: undefined,
  configured: () => {},
  [Symbol.asyncDispose]: async () => {},
};

// The webhooks of the sources that have a secret; a push triggers each target that follows the source.
function webhooksOf(views: readonly DaemonView[], watching: readonly CommandTarget[]): ReadonlyMap<string, Webhook> {
  const sources = new Map(
    watching.flatMap(({ choice }) => (choice?.source ? [[choice.source.name, choice.source]] : [])),
  );
  return new Map(
    [...sources.values()].flatMap((source) => {
      const file = source.webhookSecretFile ?? null;
      if (file === null) return [];
      const fire = (): void => {
        for (const view of views) if (view.source === source.name) view.fireForChanges("webhook");
      };
      return [[source.name, { secret: secretFileReader(file), fire }] as const];
    }),
  );
}

/** Returns a function that reads the token from a file on each call; null where no file is named, or it holds none. */
function tokenFileReader(file: string | null | undefined, { cwd }: Terminal): () => Secret | null {
  return file ? secretFileReader(resolve(cwd, file)) : () => null;
}
