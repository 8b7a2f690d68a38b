// src/daemon/http: health, metrics, status and webhooks of a daemon. See docs/operations.md#health.

import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import type { Secret } from "../../contract/secret.ts";
import type { TargetStatus } from "../../core/report/target-status.ts";
import type { Build } from "../../http/metrics.ts";
import { createHttpServer } from "../../http/server.ts";
import type { Log } from "../../log/log.ts";
import { addDashboard } from "../api/add-dashboard.ts";
import type { DashboardSource } from "../api/dashboard-source.ts";
import type { Meter } from "../meter.ts";
import { observers, type PassObserver } from "../pass-observer.ts";
import { machineName } from "../pass-queue.ts";
import { explainStateError } from "./explain-state-error.ts";
import { listenAt } from "./listen-at.ts";
import { createPageAccess } from "./page-access.ts";
import { createPassMetrics } from "./pass-metrics.ts";
import { createReadiness } from "./readiness.ts";
import { createResourceStates } from "./resource-states.ts";
import { addSignIn, createSignIn } from "./sign-in.ts";
import { addStatusRoute, type ShownStatus } from "./status-route.ts";
import { registerTargetMetrics } from "./target-metrics.ts";
import { addWebhooks, type Webhook } from "./webhooks.ts";
import { createWorkMetrics, type Watched } from "./work-metrics.ts";

/** Where a daemon's HTTP server listens, and how it runs. */
type Listening = {
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted when shutdown begins: from then on the daemon is not ready. */
  readonly stopping: AbortSignal;
};

/** What the server of a daemon shows, and whom it lets ask for passes. */
type Shown = {
  /** The webhook of the named source; undefined if it has none. */
  readonly hookOf: (source: string) => Webhook | undefined;
  /** The token of the status and the dashboard, which also shows all metrics; null if there is none now. */
  readonly token: () => Secret | null;
  /** The targets of the status. */
  readonly targets: ShownStatus["targets"];
  readonly gates: ShownStatus["gates"];
  readonly stateLostSince?: ShownStatus["stateLostSince"];
  /** What the interface of the dashboard reads. */
  readonly dashboard: DashboardSource;
  readonly build: Build;
};

/** The HTTP server of a daemon; disposal closes it. */
export type DaemonServer = AsyncDisposable & {
  readonly url: string;
  readonly meter: Meter;
  /** Returns the observer for the passes of a target. */
  readonly observe: (target: string) => PassObserver;
  /** Shows these targets, sources and receivers, and drops all others. */
  readonly watch: (watched: Watched) => void;
  /** Sets why the latest configuration is refused; null if it is in force. */
  readonly configured: (refusal: string | null) => void;
};

/** Starts a daemon's HTTP server, with health, readiness, metrics, status and webhooks. */
export async function startDaemonServer({
  host,
  port,
  log,
  clock,
  random,
  stopping,
  ...shown
}: Listening & Shown): Promise<DaemonServer> {
  const { hookOf, targets, gates, token, build, dashboard, stateLostSince = () => undefined } = shown;
  const { now } = clock;
  const signing = { settings: () => dashboard.signIn?.() ?? null, hosts: dashboard.hosts, clock, random, log };
  const signIn = createSignIn(signing);
  const access = createPageAccess(host, token, now, signIn);
  const readiness = createReadiness({
    isStateLost: () => {
      const since = stateLostSince();
      return since === undefined ? null : since !== null;
    },
  });
  // A scrape asks for each gauge.
  const overviews = readAtOnce(targets, clock);
  const here = async () => (await overviews()).filter(({ status }) => !ranElsewhere(status));
  const elsewhere = async () =>
    (await overviews()).flatMap(({ status }) => (ranElsewhere(status) ? status.target : []));
  const metrics = createPassMetrics(elsewhere);
  const work = createWorkMetrics();
  const states = createResourceStates();
  let refusal: string | null = null;
  const known = { resources: states.of, stateLostSince, refusal: () => refusal };
  const app = createHttpServer({
    clock,
    random,
    log,
    readiness: async () => readiness.now(),
    explain: explainStateError,
    metrics: {
      build,
      isTrusted: access.isTrusted,
      add: ({ everyone }) => {
        metrics.register(everyone);
        work.register(everyone);
        registerTargetMetrics(everyone, here, now);
      },
    },
    draining: stopping,
  });
  addWebhooks(app, hookOf, { count: work.count, random });
  addSignIn(app, signIn, signing);
  addStatusRoute(app, access, { targets, gates, ...known });
  const page = addDashboard(app, dashboard, { access, clock, random, ...known });
  const { activity, publish } = page;
  const url = await listenAt(app, host, port);
  return {
    url,
    meter: work,
    observe: (target) => observers([readiness, metrics, states, activity, work].map(({ observe }) => observe(target))),
    watch: (watched) => {
      for (const each of [readiness, metrics, states, activity]) each.keep(watched.targets);
      work.watch(watched);
      publish({ event: "snapshot-needed" });
    },
    configured: (why) => {
      metrics.configured(why === null);
      refusal = why;
      publish({ event: "configuration", refused: why });
    },
    [Symbol.asyncDispose]: async () => {
      page[Symbol.dispose]();
      await app.close();
    },
  };
}

const READ_MS = 500;

/** Reads once for all that ask within half a second. */
function readAtOnce<Read>(read: () => Promise<Read>, { monotonic }: Clock): () => Promise<Read> {
  let last: { readonly at: number; readonly reading: Promise<Read> } | null = null;
  return () => {
    const at = monotonic();
    if (last === null || at - last.at > READ_MS) last = { at, reading: read() };
    return last.reading;
  };
}

function ranElsewhere({ lastPass }: TargetStatus): boolean {
  return lastPass?.machine !== undefined && lastPass.machine !== machineName;
}
