import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Build } from "../../http/metrics.ts";
import { createHttpServer } from "../../http/server.ts";
import type { Log } from "../../log/log.ts";
import { addDashboard } from "../api/add-dashboard.ts";
import type { DashboardSource } from "../api/dashboard-source.ts";
import type { DaemonKnowledge } from "../api/read-dashboard.ts";
import { explainStateError } from "./explain-state-error.ts";
import { listenAt } from "./listen-at.ts";
import { createPageAccess } from "./page-access.ts";
import { addStatusRoute } from "./status-route.ts";

/** What a dashboard without a daemon serves, and where. */
export type DashboardServerOptions = {
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborted when shutdown begins. */
  readonly stopping: AbortSignal;
  /** The token that a request needs; null if there is none. */
  readonly token: () => Secret | null;
  readonly build: Build;
  readonly source: DashboardSource;
  readonly stateLostSince: DaemonKnowledge["stateLostSince"];
};

/** The dashboard of a state without a daemon; disposal closes it. */
type DashboardServer = AsyncDisposable & {
  readonly url: string;
  /** Tells why a changed configuration is refused; null once it is in force. */
  readonly configured: (why: string | null) => void;
};

/** Serves the dashboard of a state without a daemon. */
export async function startDashboardServer(options: DashboardServerOptions): Promise<DashboardServer> {
  const { host, port, log, clock, random, stopping, token, build, source, stateLostSince } = options;
  const access = createPageAccess(host, token, clock.now);
  const app = createHttpServer({
    clock,
    random,
    log,
    readiness: async () => ({ is: "ready" }),
    explain: explainStateError,
    metrics: { build, isTrusted: access.isTrusted, add: () => undefined },
    draining: stopping,
  });
  let refusal: string | null = null;
  const known = { resources: () => ({ statuses: [], isWhole: false }), refusal: () => refusal, stateLostSince };
  addStatusRoute(app, access, null);
  const dashboard = addDashboard(app, source, { access, clock, random, ...known });
  const url = await listenAt(app, host, port);
  return {
    url,
    configured: (why) => {
      refusal = why;
      dashboard.publish({ event: "configuration", refused: why });
      // Others may be shown now.
      if (why === null) dashboard.publish({ event: "snapshot-needed" });
    },
    [Symbol.asyncDispose]: async () => {
      dashboard[Symbol.dispose]();
      await app.close();
    },
  };
}
