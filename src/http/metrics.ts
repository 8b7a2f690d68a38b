import type { FastifyInstance, FastifyReply } from "fastify";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { OTHER_OPERATION, operationOf } from "./route-operation.ts";

// Labels are from closed sets: nothing that a client says can make another series.
const classes = ["2xx", "3xx", "4xx", "5xx"];
const refusals = [400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 424, 429, 500, 501, 503, 504, 507];
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What was counted of one operation: numbers of ours, put into the registry when somebody asks for it. */
type Tally = { inFlight: number; readonly statuses: Map<string, number>; readonly refusals: Map<number, number> };

/** Counts and times every request by its operation, and tells so at `/metrics` in the form of Prometheus. */
export function addMetrics(
  app: FastifyInstance,
  operations: readonly string[],
  addOthers: (registry: Registry) => void = () => {},
): void {
  const registry = new Registry();
  addOthers(registry);
  const tallies = new Map([...operations, OTHER_OPERATION].map((operation) => [operation, newTally()]));
  const durations = register(registry, tallies);
  addProcess(registry);
  app.addHook("onRequest", (request, reply, done) => {
    const operation = operationOf(request);
    const tally = tallies.get(operation) ?? newTally();
    tally.inFlight += 1;
    // A client that goes away is done with too.
    reply.raw.once("close", () => {
      count(tally, reply);
      durations.observe({ operation }, reply.elapsedTime / 1000);
    });
    done();
  });
  app.get("/metrics", async (_, reply) => reply.type(registry.contentType).send(await registry.metrics()));
}

function newTally(): Tally {
  return {
    inFlight: 0,
    statuses: new Map(classes.map((name) => [name, 0])),
    refusals: new Map(refusals.map((status) => [status, 0])),
  };
}

function count(tally: Tally, { statusCode }: FastifyReply): void {
  tally.inFlight -= 1;
  const name = classes[Math.floor(statusCode / 100) - 2];
  if (name !== undefined) tally.statuses.set(name, (tally.statuses.get(name) ?? 0) + 1);
  const refused = tally.refusals.get(statusCode);
  if (refused !== undefined) tally.refusals.set(statusCode, refused + 1);
}

function register(registry: Registry, tallies: ReadonlyMap<string, Tally>): Histogram<"operation"> {
  const registers = [registry];
  new Counter({
    name: "holdfast_http_requests_total",
    help: "Requests that were answered, by operation and class of status.",
    labelNames: ["operation", "status"],
    registers,
    collect() {
      this.reset();
      for (const [operation, { statuses }] of tallies) {
        for (const [status, number] of statuses) this.inc({ operation, status }, number);
      }
    },
  });
  new Counter({
    name: "holdfast_http_refusals_total",
    help: "Requests that were refused, by operation and status.",
    labelNames: ["operation", "status"],
    registers,
    collect() {
      this.reset();
      for (const [operation, { refusals: refused }] of tallies) {
        for (const [status, number] of refused) this.inc({ operation, status }, number);
      }
    },
  });
  new Gauge({
    name: "holdfast_http_requests_in_flight",
    help: "Requests that are being answered.",
    labelNames: ["operation"],
    registers,
    collect() {
      for (const [operation, { inFlight }] of tallies) this.set({ operation }, inFlight);
    },
  });
  const durations = new Histogram({
    name: "holdfast_http_request_duration_seconds",
    help: "Time from the first byte of a request to the last one of its reply.",
    labelNames: ["operation"],
    buckets: seconds,
    registers,
  });
  for (const operation of tallies.keys()) durations.zero({ operation });
  return durations;
}

// Nothing of versions: whoever may read the metrics need not know which holes are open.
function addProcess(registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Memory that the process holds.",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });
  new Gauge({
    name: "process_cpu_seconds_total",
    help: "Time that the process has computed.",
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.set((user + system) / 1e6);
    },
  });
}
