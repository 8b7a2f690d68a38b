import type { FastifyInstance } from "fastify";
import type { GateStatus } from "../../contract/generated/output.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import type { PassRecord, TargetStatus } from "../../core/report/target-status.ts";
import type { PageAccess } from "./page-access.ts";
import { isTroubled, type SeenResources } from "./resource-states.ts";

/** A target in the status of a daemon. */
export type TargetOverview = {
  readonly status: TargetStatus;
  readonly passes: readonly PassRecord[];
  readonly hasLease: boolean;
};

/** What the status of a daemon shows. */
export type ShownStatus = {
  readonly targets: () => Promise<readonly TargetOverview[]>;
  /** What the gates of a target said last; nothing for one without gates. */
  readonly gates: (target: string) => Promise<{ readonly gates?: GateStatus }>;
  /** Why the latest configuration is refused; null if it is in force. */
  readonly refusal: () => string | null;
  /** When the database of the state answered last, if it does not now; null while it does, undefined without one. */
  readonly stateLostSince: () => number | null | undefined;
  /** The resources of a target, those that need attention first. */
  readonly resources: (target: string) => SeenResources;
};

// A limit on the listed resources keeps a reply small: clients read it whole.
const MAX_LISTED = 10_000;

/** Adds `GET /status`: JSON for programs. Browsers are sent to the dashboard; where `status` is null, only they are answered. */
export function addStatusRoute(app: FastifyInstance, access: PageAccess, status: ShownStatus | null): void {
  app.get("/status", async (request, reply) => {
    access.require(request);
    reply.header("vary", "accept");
    if ((request.headers.accept ?? "").includes("text/html")) return reply.redirect("/");
    return status === null ? reply.callNotFound() : statusDocument(status);
  });
}

async function statusDocument({ targets, gates, resources, refusal, stateLostSince }: ShownStatus) {
  const shown = await targets();
  const lostSince = stateLostSince() ?? null;
  return {
    format_version: FORMAT_VERSION,
    daemon: { pid: process.pid },
    configurationRefused: refusal(),
    stateUnreadableSince: lostSince === null ? null : new Date(lostSince).toISOString(),
    targets: await Promise.all(
      shown.map(async ({ status, passes, hasLease }) => {
        const { statuses: all } = resources(status.target);
        return {
          ...status,
          ...(await gates(status.target)),
          hasLease,
          passes,
          troubled: all.filter(isTroubled).length,
          resources: all.slice(0, MAX_LISTED),
          leftOut: Math.max(0, all.length - MAX_LISTED),
        };
      }),
    ),
  };
}
