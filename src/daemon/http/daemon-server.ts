import { HoldfastError } from "../../core/errors.ts";
import { createHttpServer, listen } from "../../http/server.ts";
import type { Log } from "../../log/log.ts";
import type { Meter } from "../network-meter.ts";
import { observers, type PassObserver } from "../pass-observer.ts";
import { createNetworkMetrics } from "./network-metrics.ts";
import { createPassMetrics } from "./pass-metrics.ts";
import { createReadiness } from "./readiness.ts";
import { createResourceStates } from "./resource-states.ts";
import { addStatusRoute, type StatusRouteOptions } from "./status-route.ts";
import { registerTargetMetrics } from "./target-metrics.ts";
import { addWebhooks, type Webhook } from "./webhooks.ts";

/** What a daemon's HTTP server is made from. */
export type DaemonServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  readonly now: () => number;
  /** Said when the daemon is about to end: it is not ready any more. */
  readonly stopping: AbortSignal;
  /** The source that a webhook may tell of, by its name. */
  readonly hookOf: (source: string) => Webhook | undefined;
  /** The token of the status page, and what it shows of the targets. */
  readonly page: Pick<StatusRouteOptions, "token" | "targets">;
};

/** The HTTP server of a daemon; it ends with its disposal. */
export type DaemonServer = AsyncDisposable & {
  readonly url: string;
  readonly meter: Meter;
  /** What tells it of the passes of a target. */
  readonly observe: (target: string) => PassObserver;
  /** Forgets all targets but these. */
  readonly keep: (targets: readonly string[]) => void;
  /** Whether the latest configuration is in force: null, or why it is refused. */
  readonly configured: (refusal: string | null) => void;
};

/** Starts a daemon's HTTP server, with health, readiness, metrics, status and webhooks. */
export async function startDaemonServer(options: DaemonServerOptions): Promise<DaemonServer> {
  const { host, port, log, now, stopping, hookOf, page } = options;
  const readiness = createReadiness();
  const metrics = createPassMetrics();
  const network = createNetworkMetrics();
  const states = createResourceStates();
  let refusal: string | null = null;
  const app = createHttpServer({
    log,
    unready: async () => readiness.reason(),
    explain: () => null,
    addMetrics: (registry) => {
      metrics.register(registry);
      network.register(registry);
      registerTargetMetrics(registry, page.targets, now);
    },
    draining: stopping,
  });
  addWebhooks(app, hookOf);
  addStatusRoute(app, { ...page, host, now, resources: states.of, refusal: () => refusal });
  const url = await listen(app, host, port).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError("error", `--listen ${host}:${port} is not possible: ${why}`, {
      hint: "name another address, or end what listens there",
      cause,
    });
  });
  return {
    url,
    meter: network,
    observe: (target) => observers([readiness.observe(target), metrics.observe(target, now), states.observe(target)]),
    keep: (targets) => {
      for (const each of [readiness, metrics, states]) each.keep(targets);
    },
    configured: (why) => {
      metrics.configured(why === null);
      refusal = why;
    },
    [Symbol.asyncDispose]: () => app.close(),
  };
}
