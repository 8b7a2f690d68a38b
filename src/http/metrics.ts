import type { FastifyInstance } from "fastify";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { OTHER, operationOf } from "./route-name.ts";

// Labels are from closed sets: nothing that a client says can make another series.
const classes = ["2xx", "3xx", "4xx", "5xx"];
const refusals = [
  "400",
  "401",
  "403",
  "404",
  "405",
  "409",
  "412",
  "413",
  "415",
  "422",
  "424",
  "429",
  "500",
  "501",
  "503",
];
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts and times every request by its operation, and tells so at `/metrics` in the form of Prometheus. */
export function addMetrics(app: FastifyInstance, operations: readonly string[]): void {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "holdfast_http_requests_total",
    help: "Requests that were answered, by operation and class of status.",
    labelNames: ["operation", "status"],
    registers,
  });
  const refused = new Counter({
    name: "holdfast_http_refusals_total",
    help: "Requests that were refused, by operation and status.",
    labelNames: ["operation", "status"],
    registers,
  });
  const durations = new Histogram({
    name: "holdfast_http_request_duration_seconds",
    help: "Time from the first byte of a request to the last one of its reply.",
    labelNames: ["operation"],
    buckets: seconds,
    registers,
  });
  const inFlight = new Gauge({
    name: "holdfast_http_requests_in_flight",
    help: "Requests that are being answered.",
    labelNames: ["operation"],
    registers,
  });
  addProcess(registry);
  for (const operation of [...operations, OTHER]) {
    for (const status of classes) requests.inc({ operation, status }, 0);
    for (const status of refusals) refused.inc({ operation, status }, 0);
    durations.zero({ operation });
    inFlight.set({ operation }, 0);
  }
  app.addHook("onRequest", async (request, reply) => {
    const operation = operationOf(request);
    inFlight.inc({ operation });
    // A client that goes away is done with too.
    reply.raw.once("close", () => {
      inFlight.dec({ operation });
      const { statusCode } = reply;
      requests.inc({ operation, status: `${Math.floor(statusCode / 100)}xx` });
      if (refusals.includes(String(statusCode))) refused.inc({ operation, status: String(statusCode) });
      durations.observe({ operation }, reply.elapsedTime / 1000);
    });
  });
  app.get("/metrics", async (_, reply) => reply.type(registry.contentType).send(await registry.metrics()));
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
