import { Counter, Histogram, type Registry } from "prom-client";
import { operations } from "../../contract/operations.ts";
import type { Meter } from "../network-meter.ts";

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const fetchResults = ["fetched", "failed"] as const;
const publishResults = ["published", "failed"] as const;

/** What a daemon watches: the names that are labels of its metrics. */
export type Watched = { readonly targets: readonly string[]; readonly sources: readonly string[] };

/** The metrics of a daemon's network requests. */
export type NetworkMetrics = Meter & {
  readonly register: (registry: Registry) => void;
  /** Begins the series of these targets and sources at zero, and drops those of all others. */
  readonly watch: (watched: Watched) => void;
};

/** Creates the network metrics; labels come from the operations table and the operator's configuration. */
export function createNetworkMetrics(): NetworkMetrics {
  const latency = new Histogram({
    name: "holdfast_api_request_duration_seconds",
    help: "Time of a request to the control plane, from its first byte to the end of its reply.",
    labelNames: ["operation"],
    buckets: seconds,
    registers: [],
  });
  const broken = counter(
    "holdfast_api_requests_unanswered_total",
    "Requests to the control plane without a whole reply.",
    ["operation"],
  );
  const fetches = counter("holdfast_git_fetches_total", "Fetches of a source, by result.", ["source", "result"]);
  const published = counter(
    "holdfast_ref_pushes_total",
    "Pushes of the ref that names the last applied commit, by result.",
    ["target", "result"],
  );
  for (const operation of Object.keys(operations)) {
    latency.zero({ operation });
    broken.inc({ operation }, 0);
  }
  let known: Watched = { targets: [], sources: [] };
  return {
    register: (registry) => {
      for (const metric of [latency, broken, fetches, published]) registry.registerMetric<string>(metric);
    },
    watch: (watched) => {
      for (const target of watched.targets) for (const result of publishResults) published.inc({ target, result }, 0);
      for (const source of watched.sources) for (const result of fetchResults) fetches.inc({ source, result }, 0);
      const { targets, sources } = known;
      for (const target of without(targets, watched.targets))
        for (const result of publishResults) published.remove({ target, result });
      for (const source of without(sources, watched.sources))
        for (const result of fetchResults) fetches.remove({ source, result });
      known = watched;
    },
    request: (operation, milliseconds, isAnswered) => {
      latency.observe({ operation }, milliseconds / 1000);
      broken.inc({ operation }, isAnswered ? 0 : 1);
    },
    fetch: (source, result) => fetches.inc({ source, result }),
    publish: (target, result) => published.inc({ target, result }),
  };
}

function without(names: readonly string[], kept: readonly string[]): readonly string[] {
  return names.filter((name) => !kept.includes(name));
}

function counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [] });
}
