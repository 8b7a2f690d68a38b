import { Counter, Histogram, type Registry } from "prom-client";
import type { Meter } from "../network-meter.ts";

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Metrics of a daemon's network requests; labels come from the operations table and the operator's configuration. */
export function createNetworkMetrics(): Meter & { readonly register: (registry: Registry) => void } {
  const latency = new Histogram({
    name: "holdfast_api_request_duration_seconds",
    help: "Time of a request to the control plane, from its first byte to the end of its reply.",
    labelNames: ["operation"],
    buckets: seconds,
    registers: [],
  });
  const broken = new Counter({
    name: "holdfast_api_requests_unanswered_total",
    help: "Requests to the control plane without a whole reply.",
    labelNames: ["operation"],
    registers: [],
  });
  const fetches = new Counter({
    name: "holdfast_git_fetches_total",
    help: "Fetches of a source, by result.",
    labelNames: ["source", "result"],
    registers: [],
  });
  const published = new Counter({
    name: "holdfast_ref_pushes_total",
    help: "Pushes of the ref that names the last applied commit, by result.",
    labelNames: ["target", "result"],
    registers: [],
  });
  return {
    register: (registry) => {
      registry.registerMetric(latency);
      registry.registerMetric(broken);
      registry.registerMetric(fetches);
      registry.registerMetric(published);
    },
    request: (operation, milliseconds, isAnswered) => {
      latency.observe({ operation }, milliseconds / 1000);
      broken.inc({ operation }, isAnswered ? 0 : 1);
    },
    fetch: (source, result) => fetches.inc({ source, result }),
    publish: (target, result) => published.inc({ target, result }),
  };
}
