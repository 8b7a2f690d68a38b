import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ApplyEvent } from "../../core/report/events.ts";
import { type PassResultName, passResultNames } from "../../core/report/pass-result.ts";
import { summariseOutcomes } from "../../core/report/report.ts";
import type { PassObserver } from "../pass-observer.ts";
import { type PassCause, passCauses } from "../pass-queue.ts";

const stepResults = Object.keys(summariseOutcomes([]));
const writeResults = ["sent", "skipped-equal"] as const;
const lookupResults = ["hit", "miss"] as const;
const reloadResults = ["reloaded", "refused"] as const;

const passSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

type PassLabels = { readonly trigger: PassCause; readonly result: PassResultName };

function forEachPassLabel(call: (labels: PassLabels) => void): void {
  for (const trigger of passCauses) for (const result of passResultNames) call({ trigger, result });
}

/** The Prometheus metrics of passes. */
export type PassMetrics = {
  /** Adds the metrics to the registry of `/metrics`. */
  readonly register: (registry: Registry) => void;
  readonly observe: (target: string) => PassObserver;
  /** Drops all targets except these. */
  readonly keep: (targets: readonly string[]) => void;
  /** Counts a changed configuration as reloaded, or as refused. */
  readonly configured: (isInForce: boolean) => void;
};

/**
 * Creates the metrics of a daemon's passes; labels come from the operator's configuration and from closed sets. The gauges of
 * `elsewhere`, the targets whose last pass another process ran, are left to that process, so that sums over a fleet are right.
 */
export function createPassMetrics(elsewhere: () => Promise<readonly string[]>): PassMetrics {
  const metrics = defineMetrics(elsewhere);
  const { reloads, refused } = metrics;
  for (const result of reloadResults) reloads.inc({ result }, 0);
  const known = new Set<string>();
  return {
    register: (registry) => {
      for (const metric of Object.values(metrics)) registry.registerMetric<string>(metric);
    },
    configured: (isInForce) => {
      reloads.inc({ result: isInForce ? "reloaded" : "refused" });
      refused.set(isInForce ? 0 : 1);
    },
    keep: (targets) => {
      for (const target of known.difference(new Set(targets))) {
        known.delete(target);
        removeTarget(metrics, target);
      }
    },
    observe: (target) => {
      initTarget(metrics, target, !known.has(target));
      known.add(target);
      return observePasses(metrics, target);
    },
  };
}

type Metrics = ReturnType<typeof defineMetrics>;

function defineMetrics(elsewhere: () => Promise<readonly string[]>) {
  const gauge = (name: string, help: string): Gauge<"target"> =>
    new Gauge({
      name,
      help,
      labelNames: ["target"],
      registers: [],
      async collect() {
        for (const target of await elsewhere()) this.remove({ target });
      },
    });
  return {
    passCount: counter("holdfast_passes_total", "Passes, by trigger and result.", ["target", "trigger", "result"]),
    unchanged: counter(
      "holdfast_unchanged_passes_total",
      "Passes that were not made in full, since nothing had changed since one that found nothing to do.",
      ["target"],
    ),
    stepCount: counter("holdfast_steps_total", "Resources processed, by result.", ["target", "result"]),
    writes: counter(
      "holdfast_writes_total",
      "Writes sent to the control plane, and writes skipped because live was equal.",
      ["target", "result"],
    ),
    lookups: counter("holdfast_cache_lookups_total", "Source files looked up in the cache of the source.", [
      "target",
      "result",
    ]),
    durations: new Histogram({
      name: "holdfast_pass_duration_seconds",
      help: "Time of a pass, without one that waited on standby.",
      labelNames: ["target"],
      buckets: passSeconds,
      registers: [],
    }),
    declared: gauge(
      "holdfast_declared_resources",
      "Resources that the source declares, those of invalid manifests included.",
    ),
    drift: gauge("holdfast_drifted_resources", "Resources that had drifted when the last pass began."),
    unresolved: gauge(
      "holdfast_unresolved_resources",
      "Resources that the last pass left failed, blocked, skipped or unknown.",
    ),
    invalid: gauge("holdfast_invalid_manifests", "Invalid manifests, which the last pass left out."),
    success: gauge(
      "holdfast_last_success_timestamp_seconds",
      "When a pass last succeeded; 0 if none has since the start of the process.",
    ),
    standby: gauge("holdfast_standing_by", "1 while another process holds the lease."),
    reloads: counter("holdfast_configuration_reloads_total", "Changed configurations, by result.", ["result"]),
    refused: new Gauge({
      name: "holdfast_configuration_refused",
      help: "1 while the latest configuration is refused and the last valid one is in force.",
      registers: [],
    }),
  };
}

// Every series starts at zero, so that a missing one never means "unknown".
function initTarget(metrics: Metrics, target: string, isNew: boolean): void {
  const { unchanged, passCount, stepCount, writes, lookups, durations } = metrics;
  const { declared, drift, unresolved, invalid, success, standby } = metrics;
  forEachPassLabel((labels) => passCount.inc({ target, ...labels }, 0));
  unchanged.inc({ target }, 0);
  for (const result of stepResults) stepCount.inc({ target, result }, 0);
  for (const result of writeResults) writes.inc({ target, result }, 0);
  for (const result of lookupResults) lookups.inc({ target, result }, 0);
  if (!isNew) return;
  durations.zero({ target });
  for (const metric of [declared, drift, unresolved, invalid, success, standby]) metric.set({ target }, 0);
}

function removeTarget(metrics: Metrics, target: string): void {
  const { unchanged, passCount, stepCount, writes, lookups, durations } = metrics;
  const { declared, drift, unresolved, invalid, success, standby } = metrics;
  forEachPassLabel((labels) => passCount.remove({ target, ...labels }));
  for (const result of stepResults) stepCount.remove({ target, result });
  for (const result of writeResults) writes.remove({ target, result });
  for (const result of lookupResults) lookups.remove({ target, result });
  for (const metric of [unchanged, durations, declared, drift, unresolved, invalid, success, standby])
    metric.remove({ target });
}

function observePasses(metrics: Metrics, target: string): PassObserver {
  const { unchanged, passCount, lookups, durations, declared, invalid, success, standby } = metrics;
  let trigger: PassCause = "start";
  let isRead = true;
  return {
    begin: ({ cause }) => {
      trigger = cause;
      isRead = true;
    },
    emit: (event) => {
      switch (event.what) {
        case "unchanged":
          isRead = false;
          return unchanged.inc({ target });
        case "standing-by":
          return standby.set({ target }, 1);
        case "taking-over":
          return standby.set({ target }, 0);
        case "read":
          lookups.inc({ target, result: "hit" }, isRead ? event.knownFiles : 0);
          lookups.inc({ target, result: "miss" }, isRead ? event.files - event.knownFiles : 0);
          declared.set({ target }, event.documents);
          return;
        case "planned":
          return invalid.set({ target }, event.plan.summary.invalid);
        case "applied":
          return recordApply(metrics, target, event);
      }
    },
    failure: () => {},
    end: ({ conclusion: { result, verdict }, times: { startedAt, endedAt } }) => {
      passCount.inc({ target, trigger, result });
      if (verdict !== "superseded") durations.observe({ target }, Math.max(0, endedAt - startedAt) / 1000);
      if (verdict === "succeeded") success.set({ target }, Math.floor(endedAt / 1000));
    },
  };
}

function recordApply(
  { stepCount, writes, drift, unresolved, invalid }: Metrics,
  target: string,
  { report, plan }: ApplyEvent,
): void {
  for (const [result, count] of Object.entries(report.summary)) stepCount.inc({ target, result }, count);
  const sent = report.outcomes.reduce((all, { attempts }) => all + attempts, 0);
  writes.inc({ target, result: "sent" }, sent);
  writes.inc({ target, result: "skipped-equal" }, report.summary.unchanged);
  drift.set({ target }, plan.summary.drift);
  const { failed, blocked, skipped, unknown } = report.summary;
  unresolved.set({ target }, failed + blocked + skipped + unknown);
  invalid.set({ target }, report.summary.invalid);
}

function counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [] });
}
