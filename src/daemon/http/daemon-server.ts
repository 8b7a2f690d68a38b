import { HoldfastError } from "../../core/errors.ts";
import { createHttpServer, listen } from "../../http/server.ts";
import type { Log } from "../../log/log.ts";
import { observers, type PassObserver } from "../observer.ts";
import { createPassMetrics } from "./pass-metrics.ts";
import { createReadiness } from "./readiness.ts";
import { addWebhooks, type Webhook } from "./webhooks.ts";

/** What a daemon's HTTP server is made from. */
export type DaemonServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  readonly now: () => number;
  /** Said when the daemon is about to end: it is not ready any more. */
  readonly stopping: AbortSignal;
  /** The sources that webhooks may tell of, by name. */
  readonly hooks: ReadonlyMap<string, Webhook>;
};

/** The HTTP server of a daemon; it ends with its disposal. */
export type DaemonServer = AsyncDisposable & {
  readonly url: string;
  /** What tells it of the passes of a target. */
  readonly observe: (target: string) => PassObserver;
};

/** Starts a daemon's HTTP server, with health, readiness, metrics and webhooks. */
export async function startDaemonServer(options: DaemonServerOptions): Promise<DaemonServer> {
  const { host, port, log, now, stopping, hooks } = options;
  const readiness = createReadiness();
  const metrics = createPassMetrics();
  const app = createHttpServer({
    log,
    unready: async () => readiness.reason(),
    explain: () => null,
    addMetrics: metrics.register,
    draining: stopping,
  });
  addWebhooks(app, hooks);
  const url = await listen(app, host, port).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new HoldfastError("error", `--listen ${host}:${port} is not possible: ${why}`, {
      hint: "name another address, or end what listens there",
      cause,
    });
  });
  return {
    url,
    observe: (target) => observers([readiness.observe(target), metrics.observe(target, now)]),
    [Symbol.asyncDispose]: () => app.close(),
  };
}
