import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from "prom-client";
import type { Clock } from "../clock/clock.ts";
import { OTHER_OPERATION, operationOf } from "./access-log.ts";
import { createRateLimit } from "./rate-limit.ts";

// Labels come from closed sets: no client can create another series.
const classes = ["2xx", "3xx", "4xx", "5xx"];
const refusals = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 424, 429, 500, 501, 503, 504, 507];
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The counts of one operation, copied into the registry when metrics are collected. */
type Counts = { inFlight: number; readonly statuses: Map<string, number>; readonly refusals: Map<number, number> };

/** Where metrics are registered, by who may read them. */
export type MetricRegistries = {
  readonly everyone: Registry;
  /** What helps an attacker, such as versions and limits. */
  readonly trusted: Registry;
};

/** What `/metrics` shows besides requests and the process, and to whom. */
export type MetricsOptions = {
  /** Adds metrics. */
  readonly add?: (registries: MetricRegistries) => void;
  /** Whether the caller may read all metrics. @default nobody */
  readonly isTrusted?: (request: FastifyRequest) => boolean | Promise<boolean>;
  /** The version of the program, and the commit that it was built from. */
  readonly build?: Build;
};

/** A build of the program; its commit is null if it is not known. */
export type Build = { readonly version: string; readonly commit: string | null };

// Gauges that end in `_total`, which is for counters alone; and the version of Node, which is in `holdfast_build_info`.
const LEFT_OUT = /^nodejs_(?:active_|version_info)/;

/** How often the event loop is looked at, in milliseconds: every 10 ms, as the library does, costs 0.9 % of a processor. */
const EVENT_LOOP_PRECISION = 50;

let collected: readonly Metric[] | null = null;

/** Counts and times every request by its operation, and adds `/metrics` in the Prometheus format. */
export function addMetrics(
  app: FastifyInstance,
  operations: readonly string[],
  { monotonic }: Clock,
  { add = () => {}, isTrusted = () => false, build }: MetricsOptions = {},
): void {
  const registries = { everyone: new Registry(), trusted: new Registry() };
  add(registries);
  const countsByOperation = new Map([...operations, OTHER_OPERATION].map((operation) => [operation, newCounts()]));
  const durations = register(registries.everyone, countsByOperation);
  for (const metric of processMetrics()) registries.everyone.registerMetric(metric);
  if (build !== undefined) addBuildInfo(registries.trusted, build);
  app.addHook("onRequest", (request, reply, done) => {
    const operation = operationOf(request);
    const counts = countsByOperation.get(operation) ?? newCounts();
    counts.inFlight += 1;
    // The event also comes when the client disconnects.
    reply.raw.once("close", () => {
      count(counts, reply);
      if (!request.routeOptions.config.isStream) durations.observe({ operation }, reply.elapsedTime / 1000);
    });
    done();
  });
  const everyone = bounded(() => registries.everyone.metrics(), monotonic);
  const trusted = bounded(() => registries.trusted.metrics(), monotonic);
  app.get("/metrics", async (request, reply) => {
    const texts = (await isTrusted(request)) ? [await everyone(), await trusted()] : [await everyone()];
    return reply.type(registries.everyone.contentType).send(texts.join(""));
  });
}

const MAX_SCRAPES_PER_SECOND = 20;

// Scrapes above the limit get the last result: collecting metrics blocks the thread, and other requests would wait.
function bounded(collect: () => Promise<string>, monotonic: () => number): () => Promise<string> {
  const limit = createRateLimit(MAX_SCRAPES_PER_SECOND, monotonic);
  let last: Promise<string> | null = null;
  return () => {
    if (last === null || limit("all") === 0) last = collect();
    return last;
  };
}

function newCounts(): Counts {
  return {
    inFlight: 0,
    statuses: new Map(classes.map((name) => [name, 0])),
    refusals: new Map(refusals.map((status) => [status, 0])),
  };
}

function count(counts: Counts, { statusCode }: FastifyReply): void {
  counts.inFlight -= 1;
  const name = classes[Math.floor(statusCode / 100) - 2];
  if (name !== undefined) counts.statuses.set(name, (counts.statuses.get(name) ?? 0) + 1);
  const refused = counts.refusals.get(statusCode);
  if (refused !== undefined) counts.refusals.set(statusCode, refused + 1);
}

function register(registry: Registry, countsByOperation: ReadonlyMap<string, Counts>): Histogram<"operation"> {
  const registers = [registry];
  new Counter({
    name: "holdfast_http_requests_total",
    help: "Requests answered, by operation and status class.",
    labelNames: ["operation", "status"],
    registers,
    collect() {
      this.reset();
      for (const [operation, { statuses }] of countsByOperation) {
        for (const [status, number] of statuses) this.inc({ operation, status }, number);
      }
    },
  });
  new Counter({
    name: "holdfast_http_refusals_total",
    help: "Requests refused, by operation and status.",
    labelNames: ["operation", "status"],
    registers,
    collect() {
      this.reset();
      for (const [operation, { refusals: refused }] of countsByOperation) {
        for (const [status, number] of refused) this.inc({ operation, status }, number);
      }
    },
  });
  new Gauge({
    name: "holdfast_http_requests_in_flight",
    help: "Requests in flight, by operation.",
    labelNames: ["operation"],
    registers,
    collect() {
      for (const [operation, { inFlight }] of countsByOperation) this.set({ operation }, inFlight);
    },
  });
  const durations = new Histogram({
    name: "holdfast_http_request_duration_seconds",
    help: "Time from the first byte of a request to the last byte of its reply.",
    labelNames: ["operation"],
    buckets: seconds,
    registers,
  });
  for (const operation of countsByOperation.keys()) durations.zero({ operation });
  return durations;
}

function addBuildInfo(registry: Registry, { version, commit }: Build): void {
  new Gauge({
    name: "holdfast_build_info",
    help: "The version of Holdfast, its commit, and the version of Node; always 1.",
    labelNames: ["version", "commit", "node_version"],
    registers: [registry],
  }).set({ version, commit: commit ?? "unknown", node_version: process.version.slice(1) }, 1);
}

/**
 * The metrics of the process and of Node: memory, CPU, file descriptors, event loop lag and garbage collection. Every server
 * of a process shows the same ones, since their measuring never ends.
 */
function processMetrics(): readonly Metric[] {
  collected ??= collect();
  return collected;
}

function collect(): readonly Metric[] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION });
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  return names.filter((name) => !LEFT_OUT.test(name)).flatMap((name) => registry.getSingleMetric(name) ?? []);
}
