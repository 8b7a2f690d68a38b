import { Counter, Gauge, type Registry } from "prom-client";
import type { ApplyEvent } from "../../core/report/events.ts";
import type { OutcomeResult } from "../../core/report/report.ts";
import type { PassCause } from "../loop.ts";
import type { PassObserver } from "../pass-observer.ts";

const passes = ["applied", "failed", "refused", "superseded", "kept"] as const;
const results: readonly OutcomeResult[] = [
  "created",
  "updated",
  "unchanged",
  "skipped",
  "blocked",
  "failed",
  "unknown",
];

const writeResults = ["sent", "skipped-equal"] as const;
const lookupResults = ["hit", "miss"] as const;
const reloadResults = ["reloaded", "refused"] as const;

const causes = ["start", "interval", "change", "webhook", "signal", "request", "configuration", "retry"] as const;

type PassLabels = { readonly trigger: PassCause; readonly result: (typeof passes)[number] };

// Each from the beginning, so that an absent one never means "unknown".
function countEach(count: (labels: PassLabels) => void): void {
  for (const trigger of causes) for (const result of passes) count({ trigger, result });
}

/** What Prometheus is told of passes. */
export type PassMetrics = {
  /** Puts the metrics into the registry that `/metrics` shows. */
  readonly register: (registry: Registry) => void;
  readonly observe: (target: string, now: () => number) => PassObserver;
  /** Forgets all targets but these. */
  readonly keep: (targets: readonly string[]) => void;
  /** Counts a changed configuration that was taken up, or refused. */
  readonly configured: (isInForce: boolean) => void;
};

/** Metrics of a daemon; labels come from the operator's configuration and from closed sets. */
export function createPassMetrics(): PassMetrics {
  const passCount = counter("holdfast_passes_total", "Passes, by what made them begin and how they ended.", [
    "target",
    "trigger",
    "result",
  ]);
  const stepCount = counter("holdfast_steps_total", "Resources looked at, by what became of them.", [
    "target",
    "result",
  ]);
  const drift = gauge("holdfast_drifted_resources", "Resources that had moved in live when the last pass began.");
  const unresolved = gauge("holdfast_unresolved_resources", "Resources that the last pass could not make equal.");
  const success = gauge(
    "holdfast_last_success_timestamp_seconds",
    "When the last pass ended without a failed resource.",
  );
  const standby = gauge("holdfast_standing_by", "1 while another process holds the lease.");
  const writes = counter(
    "holdfast_writes_total",
    "Writes to the control plane, and those left out since live was equal.",
    ["target", "result"],
  );
  const lookups = counter("holdfast_cache_lookups_total", "Source files looked up in the cache of the source.", [
    "target",
    "result",
  ]);
  const reloads = counter("holdfast_configuration_reloads_total", "Changed configurations, by what became of them.", [
    "result",
  ]);
  const refused = new Gauge({
    name: "holdfast_configuration_refused",
    help: "1 while the latest configuration is refused and the last good one is in force.",
    registers: [],
  });
  for (const result of reloadResults) reloads.inc({ result }, 0);
  const known = new Set<string>();
  return {
    register: (registry) => {
      for (const metric of [passCount, stepCount, writes, lookups, drift, unresolved, success, standby])
        registry.registerMetric(metric);
      registry.registerMetric(reloads);
      registry.registerMetric(refused);
    },
    configured: (isInForce) => {
      reloads.inc({ result: isInForce ? "reloaded" : "refused" });
      refused.set(isInForce ? 0 : 1);
    },
    keep: (targets) => {
      for (const target of known.difference(new Set(targets))) {
        known.delete(target);
        countEach((labels) => passCount.remove({ target, ...labels }));
        for (const result of results) stepCount.remove({ target, result });
        for (const result of writeResults) writes.remove({ target, result });
        for (const result of lookupResults) lookups.remove({ target, result });
        for (const metric of [drift, unresolved, success, standby]) metric.remove({ target });
      }
    },
    observe: (target, now) => {
      const isNew = !known.has(target);
      known.add(target);
      countEach((labels) => passCount.inc({ target, ...labels }, 0));
      let trigger: PassCause = "start";
      for (const result of results) stepCount.inc({ target, result }, 0);
      for (const result of writeResults) writes.inc({ target, result }, 0);
      for (const result of lookupResults) lookups.inc({ target, result }, 0);
      if (isNew) for (const metric of [drift, unresolved, standby]) metric.set({ target }, 0);
      const applied = ({ report, plan }: ApplyEvent): void => {
        passCount.inc({ target, trigger, result: "applied" });
        for (const result of results) stepCount.inc({ target, result }, report.summary[result]);
        const sent = report.outcomes.reduce((all, { attempts }) => all + attempts, 0);
        writes.inc({ target, result: "sent" }, sent);
        writes.inc({ target, result: "skipped-equal" }, report.summary.unchanged);
        drift.set({ target }, plan.summary.drift);
        const { failed, blocked, skipped, unknown } = report.summary;
        unresolved.set({ target }, failed + blocked + skipped + unknown);
        if (failed + unknown === 0) success.set({ target }, Math.floor(now() / 1000));
      };
      return {
        begin: (cause) => {
          trigger = cause;
        },
        emit: (event) => {
          if (event.what === "standing-by") standby.set({ target }, 1);
          if (event.what === "taking-over") standby.set({ target }, 0);
          if (event.what === "read") {
            lookups.inc({ target, result: "hit" }, event.knownFiles);
            lookups.inc({ target, result: "miss" }, event.files - event.knownFiles);
          }
          if (event.what === "applied") applied(event);
          if (event.what === "read" && event.isRefused) passCount.inc({ target, trigger, result: "refused" });
          if (event.what === "superseded" || event.what === "kept")
            passCount.inc({ target, trigger, result: event.what });
        },
        failure: () => passCount.inc({ target, trigger, result: "failed" }),
      };
    },
  };
}

function counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
  return new Counter({ name, help, labelNames, registers: [] });
}

function gauge(name: string, help: string): Gauge<"target"> {
  return new Gauge({ name, help, labelNames: ["target"], registers: [] });
}
