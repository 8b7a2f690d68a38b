import { Counter, Histogram, type Registry } from "prom-client";
import { operations } from "../../contract/operations.ts";
import type { CountedResults, Meter } from "../meter.ts";
import type { PassObserver } from "../pass-observer.ts";

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const longSeconds = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400];

/** What a daemon works with: the names that are labels of its metrics. */
export type Watched = {
  readonly targets: readonly string[];
  readonly sources: readonly string[];
  readonly receivers: readonly string[];
};

type Label = "target" | "source" | "receiver";

type Family<Result extends string> = {
  readonly name: string;
  readonly help: string;
  readonly label: Label;
  readonly results: readonly Result[];
};

const families: { readonly [what in keyof CountedResults]: Family<CountedResults[what]> } = {
  fetches: {
    name: "holdfast_git_fetches_total",
    help: "Fetches of a source, by result.",
    label: "source",
    results: ["fetched", "failed"],
  },
  webhooks: {
    name: "holdfast_webhooks_total",
    help: "Push webhooks of a source, by result.",
    label: "source",
    results: ["accepted", "repeated", "refused"],
  },
  refPushes: {
    name: "holdfast_ref_pushes_total",
    help: "Pushes of the ref that names the last applied commit, by result.",
    label: "target",
    results: ["published", "failed"],
  },
  commitStatuses: {
    name: "holdfast_commit_statuses_total",
    help: "Commit statuses written to the git host, by result.",
    label: "target",
    results: ["delivered", "failed"],
  },
  promotions: {
    name: "holdfast_promotions_total",
    help: "Looks at what may be promoted to a target, by result.",
    label: "target",
    results: ["created", "updated", "unchanged", "closed", "withdrawn", "nothing", "waiting", "failed"],
  },
  driftProposals: {
    name: "holdfast_drift_proposals_total",
    help: "Looks at the pull request of what was changed in the live of a target, by result.",
    label: "target",
    results: ["created", "updated", "unchanged", "closed", "withdrawn", "failed"],
  },
  notifications: {
    name: "holdfast_notifications_total",
    help: "Messages to a receiver of notifications, by result.",
    label: "receiver",
    results: ["delivered", "failed", "dropped"],
  },
};

/** The metrics of what a daemon does beside its passes. */
export type WorkMetrics = Meter & {
  readonly register: (registry: Registry) => void;
  /** Begins the series of these targets, sources and receivers at zero, and drops those of all others. */
  readonly watch: (watched: Watched) => void;
  readonly observe: (target: string) => PassObserver;
};

/** Creates the metrics of requests, fetches and deliveries; labels come from closed sets and the operator's configuration. */
export function createWorkMetrics(): WorkMetrics {
  const latency = histogram(
    "holdfast_api_request_duration_seconds",
    "Time of a request to the control plane, from its first byte to the end of its reply.",
    { label: "operation", buckets: seconds },
  );
  const broken = new Counter({
    name: "holdfast_api_requests_unanswered_total",
    help: "Requests to the control plane without a whole reply.",
    labelNames: ["operation"],
    registers: [],
  });
  for (const operation of Object.keys(operations)) {
    latency.zero({ operation });
    broken.inc({ operation }, 0);
  }
  const fetching = histogram("holdfast_git_fetch_duration_seconds", "Time of a fetch of a source.", {
    label: "source",
    buckets: longSeconds,
  });
  const applying = histogram(
    "holdfast_commit_apply_duration_seconds",
    "Time from the pass that first wanted a commit to the end of the one that applied it whole.",
    { label: "target", buckets: longSeconds },
  );
  const counted = Object.entries(families).map(([what, family]) => ({ what, family, counter: counterOf(family) }));
  const counters = new Map(counted.map(({ what, family, counter }) => [what, { family, counter }]));
  let known: Watched = { targets: [], sources: [], receivers: [] };
  return {
    register: (registry) => {
      for (const metric of [latency, broken, fetching, applying]) registry.registerMetric<string>(metric);
      for (const { counter } of counted) registry.registerMetric<string>(counter);
    },
    watch: (watched) => {
      for (const { family, counter } of counted) {
        const names = namesOf(family.label, watched);
        for (const labels of labelsOf(family, names)) counter.inc(labels, 0);
        for (const labels of labelsOf(family, without(namesOf(family.label, known), names))) counter.remove(labels);
      }
      for (const source of without(watched.sources, known.sources)) fetching.zero({ source });
      for (const source of without(known.sources, watched.sources)) fetching.remove({ source });
      for (const target of without(watched.targets, known.targets)) applying.zero({ target });
      for (const target of without(known.targets, watched.targets)) applying.remove({ target });
      known = watched;
    },
    request: (operation, milliseconds, isAnswered) => {
      latency.observe({ operation }, milliseconds / 1000);
      broken.inc({ operation }, isAnswered ? 0 : 1);
    },
    count: (what, name, result) => {
      const { family, counter } = counters.get(what) ?? {};
      if (family !== undefined) counter?.inc({ [family.label]: name, result });
    },
    fetched: (source, milliseconds) => fetching.observe({ source }, milliseconds / 1000),
    observe: (target) => ({
      emit: () => {},
      failure: () => {},
      applied: (waitedMs) => applying.observe({ target }, waitedMs / 1000),
    }),
  };
}

function counterOf({ name, help, label }: Family<string>): Counter {
  return new Counter({ name, help, labelNames: [label, "result"], registers: [] });
}

function histogram<Name extends string>(
  name: string,
  help: string,
  { label, buckets }: { readonly label: Name; readonly buckets: readonly number[] },
): Histogram<Name> {
  return new Histogram<Name>({ name, help, labelNames: [label], buckets: [...buckets], registers: [] });
}

function labelsOf({ label, results }: Family<string>, names: readonly string[]) {
  return names.flatMap((name) => results.map((result) => ({ [label]: name, result })));
}

function namesOf(label: Label, { targets, sources, receivers }: Watched): readonly string[] {
  switch (label) {
    case "target":
      return targets;
    case "source":
      return sources;
    case "receiver":
      return receivers;
  }
}

function without(names: readonly string[], others: readonly string[]): readonly string[] {
  return names.filter((name) => !others.includes(name));
}
