// biome-ignore-all lint/plugin: a token must not be foreseen
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { Secret } from "../../contract/secret.ts";
import type { DaemonView } from "../../daemon/daemon.ts";
import type { DatabaseWatch } from "../../daemon/database-watch.ts";
import type { Webhook } from "../../daemon/http/webhooks.ts";
import type { Meter } from "../../daemon/meter.ts";
import type { PassObserver } from "../../daemon/pass-observer.ts";
import { readGivenText } from "../../files/read-given-file.ts";
import type { OperatorConfig } from "../../source/read-config.ts";
import type { Invocation } from "../command.ts";
import { tell } from "../output/log-stream.ts";
import { terminalLog } from "../output/terminal-log.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import { retiredTargetStatus, retiredTargetUnread } from "../targets/retired-target.ts";
import { storedGates } from "../targets/stored-gates.ts";
import type { Terminal } from "../terminal.ts";

/** The HTTP server of `watch`. */
export type WatchServer = AsyncDisposable & {
  /** Serves these targets, their webhooks and receivers from now on, and drops all others. */
  readonly show: (shown: readonly DaemonView[], targets: ShownTargets, operator: OperatorConfig) => void;
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
};

/** Starts the HTTP server of `watch` if `--listen` names an address; otherwise returns one that does nothing. */
export async function openWatchServer(invocation: Invocation<"listen">): Promise<WatchServer> {
  const { flags, terminal } = invocation;
  if (flags.listen === undefined) return noServer;
  const colon = flags.listen.lastIndexOf(":");
  const host = flags.listen.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(flags.listen.slice(colon + 1));
  // Loaded here, so that `watch` without `--listen` does not load the server.
  const { startDaemonServer } = await import("../../daemon/http/daemon-server.ts");
  const { clock, random, stopping } = terminal;
  let shown: readonly DaemonView[] = [];
  let retired: readonly CommandTarget[] = [];
  let database: DatabaseWatch | null = null;
  const reading = <Read>(read: () => Promise<Read>): Promise<Read | null> => database?.read(read) ?? read();
  let byName: ReadonlyMap<string, CommandTarget> = new Map();
  let hooks: ReadonlyMap<string, Webhook> = new Map();
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
    gates: async (target) => {
      const found = byName.get(target);
      return found === undefined ? {} : ((await reading(() => storedGates(found))) ?? {});
    },
  });
  let isAnnounced = false;
  return {
    show: (views, { watching, ...others }, { notifications = [] }) => {
      const message = `health and metrics on ${server.url}`;
      if (!isAnnounced) tell(terminal.stderr, { event: "listening", message, url: server.url }, () => `${message}\n`);
      isAnnounced = true;
      shown = views;
      ({ retired, database } = others);
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

/**
 * Returns a function that reads the token of the status page on each call, from the file that `HOLDFAST_UI_TOKEN_FILE` names
 * or from `HOLDFAST_UI_TOKEN`; null if neither is set. While the file is missing or empty, the last token stays valid.
 */
function pageTokenReader({ env, cwd }: Terminal): () => Secret | null {
  const file = env.HOLDFAST_UI_TOKEN_FILE;
  if (!file) return () => (env.HOLDFAST_UI_TOKEN ? new Secret(env.HOLDFAST_UI_TOKEN.trim()) : null);
  const read = secretFileReader(resolve(cwd, file));
  // A random token until the file holds one: a page with a configured token must never be open.
  return () => read() ?? unknownToken;
}

const unknownToken = new Secret(randomUUID());

/** Returns a function that reads a secret from a file on each call. While the file is missing or empty, it returns the last one. */
function secretFileReader(file: string): () => Secret | null {
  let last: Secret | null = null;
  return () => {
    last = secretIn(file) ?? last;
    return last;
  };
}

function secretIn(file: string): Secret | null {
  try {
    const secret = readGivenText(file).trim();
    return secret === "" ? null : new Secret(secret);
  } catch {
    return null;
  }
}
