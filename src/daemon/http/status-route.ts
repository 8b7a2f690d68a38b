import type { FastifyInstance } from "fastify";
import type { PassRecord, ResourceStatus, TargetStatus } from "../../core/report/target-status.ts";
import { type PageAccess, requirePageAccess } from "./page-access.ts";
import { renderStatusPage, statusPageHeaders } from "./render-status-page.ts";
import { isTroubled } from "./resource-states.ts";

/** What the status page shows of a target. */
export type TargetOverview = {
  readonly status: TargetStatus;
  readonly passes: readonly PassRecord[];
  readonly hasLease: boolean;
};

/** What the status page is made from. */
export type StatusRouteOptions = PageAccess & {
  readonly targets: () => readonly TargetOverview[];
  /** Why the latest configuration is refused; null where it is in force. */
  readonly refusal: () => string | null;
  /** The resources of a target, those first that do not stand as declared. */
  readonly resources: (target: string) => readonly ResourceStatus[];
};

// However many there are, a reply is read at once.
const MAX_IN_JSON = 10_000;
const MAX_ON_PAGE = 500;

/** Adds `GET /status`: one page for browsers, JSON for everybody else. */
export function addStatusRoute(app: FastifyInstance, options: StatusRouteOptions): void {
  const requireAccess = requirePageAccess(options);
  app.get("/status", async (request, reply) => {
    requireAccess(request);
    reply.header("vary", "accept");
    if (!(request.headers.accept ?? "").includes("text/html")) return statusDocument(options, MAX_IN_JSON);
    return reply.headers(statusPageHeaders).send(renderStatusPage(statusDocument(options, MAX_ON_PAGE), options.now()));
  });
}

function statusDocument({ targets, resources, refusal }: StatusRouteOptions, most: number) {
  return {
    format_version: "2.0",
    daemon: { pid: process.pid },
    configurationRefused: refusal(),
    targets: targets().map(({ status, passes, hasLease }) => {
      const all = resources(status.target);
      return {
        ...status,
        hasLease,
        passes,
        troubled: all.filter(isTroubled).length,
        resources: all.slice(0, most),
        leftOut: Math.max(0, all.length - most),
      };
    }),
  };
}
