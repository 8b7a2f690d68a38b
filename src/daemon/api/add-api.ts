import { createRequire } from "node:module";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type {
  CommitsReply,
  DriftDaysReply,
  DriftsReply,
  EventsReply,
  FleetReply,
  PassesReply,
  ResourceGraphReply,
  ResourceStateReply,
  ResourcesReply,
  TargetReply,
  WhyReply,
} from "../../contract/generated/output.ts";
import { HttpError } from "../../http/http-error.ts";
import { isOwnHost } from "../../http/loopback.ts";
import { queryText } from "../../http/server.ts";
import type { PageAccess } from "../http/page-access.ts";
import { API, apiOperations, STREAM } from "./api-operations.ts";
import { parameterValues } from "./api-parameters.ts";
import type { EventStreams } from "./event-stream.ts";
import type { DashboardReader } from "./read-dashboard.ts";

// Loaded as a module, since the files of a single executable are in it alone.
const load = createRequire(import.meta.url);

/** Headers of all that the dashboard is made of. */
export const dashboardHeaders: { readonly [name: string]: string } = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};

/** Who may read the dashboard. */
export type DashboardReaders = {
  readonly access: PageAccess;
  /** Names of this host beside those of loopback. */
  readonly hosts: () => readonly string[];
};

/** What the interface is made of. */
type ApiParts = DashboardReaders & {
  readonly reader: DashboardReader;
  readonly streams: EventStreams;
};

/** Adds what the interface `/api/v1` lets people and programs read. */
export function addApi(app: FastifyInstance, { reader, streams, ...readers }: ApiParts): void {
  const { getTarget, listResources, getGraph, getResource, explainValue, listPasses, listEvents } = apiOperations;
  const { listDrifts, listDriftDays, listCommits, listTargets } = apiOperations;
  const serve = <Reply>(path: string, answer: (request: FastifyRequest, target: string) => Promise<Reply>): void => {
    app.get<{ Params: { target?: string } }>(API + path.replace("{target}", ":target"), async (request, reply) => {
      requireReader(request, readers);
      return reply.headers(dashboardHeaders).send(await answer(request, request.params.target ?? ""));
    });
  };
  app.get(API + STREAM, { config: { isStream: true } }, async (request, reply) => {
    requireReader(request, readers);
    parameterValues({}, queryText(request));
    const after = request.headers["last-event-id"];
    const stream = streams.open({
      after: typeof after === "string" ? after : null,
      isAllowed: () => readers.access.isStillAllowed(request),
    });
    // A proxy that waits for more would hold events back, and a connection that outlives the stream would hold up the end of the server.
    const headers = { ...dashboardHeaders, "x-accel-buffering": "no", connection: "close" };
    return reply.headers(headers).type("text/event-stream").send(stream);
  });
  app.addHook("preClose", async () => streams[Symbol.dispose]());
  serve("/openapi.json", async (request) => {
    parameterValues({}, queryText(request));
    return load("./generated/dashboard/openapi.json") as object;
  });
  serve<FleetReply>(listTargets.path, async (request) => {
    parameterValues(listTargets.parameters, queryText(request));
    return reader.fleet();
  });
  serve<TargetReply>(getTarget.path, async (request, target) => {
    parameterValues(getTarget.parameters, queryText(request));
    return reader.target(target);
  });
  serve<ResourcesReply>(listResources.path, async (request, target) => {
    const query = parameterValues(listResources.parameters, queryText(request));
    return { target, ...(await reader.resources(target))({ ...query, identity: null }) };
  });
  serve<ResourceGraphReply>(getGraph.path, async (request, target) =>
    reader.graph(target, parameterValues(getGraph.parameters, queryText(request))),
  );
  serve<ResourceStateReply>(getResource.path, async (request, target) => {
    const { identity } = parameterValues(getResource.parameters, queryText(request));
    return reader.resource(target, identity);
  });
  serve<WhyReply>(explainValue.path, async (request, target) => {
    const { identity, pointer } = parameterValues(explainValue.parameters, queryText(request));
    return reader.why(target, { identity, pointer: pointer ?? "" });
  });
  serve<PassesReply>(listPasses.path, async (request, target) => {
    const { limit, after } = parameterValues(listPasses.parameters, queryText(request));
    const { entries, next } = await reader.stored(target, (store) => store.passes(pageFrom(limit, after)));
    return { target, passes: entries, next };
  });
  serve<EventsReply>(listEvents.path, async (request, target) => {
    const { identity, drifted, at, changes, limit, after } = parameterValues(listEvents.parameters, queryText(request));
    const filter = {
      ...(identity !== null && { identity }),
      ...(drifted && { hasDrifted: true as const }),
      ...(at !== null && { at }),
      ...(changes && { withChanges: true as const }),
    };
    const { entries, next } = await reader.stored(target, (store) => store.events(filter, pageFrom(limit, after)));
    return { target, events: entries, next };
  });
  serve<DriftsReply>(listDrifts.path, async (request, target) => {
    const { limit, after } = parameterValues(listDrifts.parameters, queryText(request));
    const { entries, next } = await reader.stored(target, (store) => store.drifts(pageFrom(limit, after)));
    return { target, drifts: entries, next };
  });
  serve<CommitsReply>(listCommits.path, async (request, target) => {
    const { id } = parameterValues(listCommits.parameters, queryText(request));
    return reader.commits(target, id);
  });
  serve<DriftDaysReply>(listDriftDays.path, async (request, target) => {
    const { limit, after } = parameterValues(listDriftDays.parameters, queryText(request));
    const { entries, next } = await reader.stored(target, (store) => store.driftByDay(pageFrom(limit, after)));
    return { target, days: entries, next };
  });
}

function pageFrom(limit: number, after: string | null) {
  return { limit, ...(after !== null && { after }) };
}

/** Refuses a request that may not read the dashboard. */
export function requireReader(request: FastifyRequest, { access, hosts }: DashboardReaders): void {
  requireHost(request, hosts());
  access.require(request, "api");
}

/**
 * Refuses a request that addresses this host by another name than its own: a page of another site could have made its name
 * stand for this machine.
 */
export function requireHost({ hostname }: FastifyRequest, hosts: readonly string[]): void {
  if (isOwnHost(hostname, hosts)) return;
  throw new HttpError(
    421,
    "misdirected",
    "this server does not answer to that host name: the key dashboard.hosts names its own",
  );
}
