import type { FastifyInstance, FastifyReply } from "fastify";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { OTHER_OPERATION, operationOf } from "./operation-label.ts";
import { createRateLimit } from "./rate-limit.ts";

// Labels come from closed sets: no client can create another series.
const classes = ["2xx", "3xx", "4xx", "5xx"];
const refusals = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 424, 429, 500, 501, 503, 504, 507];
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The counts of one operation, copied into the registry when metrics are collected. */
type Counts = { inFlight: number; readonly statuses: Map<string, number>; readonly refusals: Map<number, number> };

/** Counts and times every request by its operation, and adds `/metrics` in the Prometheus format. */
export function addMetrics(
  app: FastifyInstance,
  operations: readonly string[],
  addOthers: (registry: Registry) => void = () => {},
): void {
  const registry = new Registry();
  addOthers(registry);
  const countsByOperation = new Map([...operations, OTHER_OPERATION].map((operation) => [operation, newCounts()]));
  const durations = register(registry, countsByOperation);
  addProcess(registry);
  app.addHook("onRequest", (request, reply, done) => {
    const operation = operationOf(request);
    const counts = countsByOperation.get(operation) ?? newCounts();
    counts.inFlight += 1;
    // The event also comes when the client disconnects.
    reply.raw.once("close", () => {
      count(counts, reply);
      durations.observe({ operation }, reply.elapsedTime / 1000);
    });
    done();
  });
  const text = bounded(() => registry.metrics());
  app.get("/metrics", async (_, reply) => reply.type(registry.contentType).send(await text()));
}

const MAX_SCRAPES_PER_SECOND = 20;

// Scrapes above the limit get the last result: collecting metrics blocks the thread, and other requests would wait.
function bounded(collect: () => Promise<string>): () => Promise<string> {
  const limit = createRateLimit(MAX_SCRAPES_PER_SECOND, () => performance.now());
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

// No versions: readers of the metrics should not learn which vulnerabilities apply.
function addProcess(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_heap_bytes",
    help: "Used heap of V8.",
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  new Gauge({
    name: "process_cpu_seconds_total",
    help: "User and system CPU time of the process.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1e6);
    },
  });
}
