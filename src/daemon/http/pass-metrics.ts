import { Counter, Gauge, type Registry } from "prom-client";
import type { ApplyEvent } from "../../core/events.ts";
import type { OutcomeResult } from "../../core/report.ts";
import type { PassObserver } from "../observer.ts";

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

const reloadResults = ["reloaded", "refused"] as const;

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
  const passCount = counter("holdfast_passes_total", "Passes, by how they ended.", ["target", "result"]);
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
      for (const metric of [passCount, stepCount, drift, unresolved, success, standby]) registry.registerMetric(metric);
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
        for (const result of passes) passCount.remove({ target, result });
        for (const result of results) stepCount.remove({ target, result });
        for (const metric of [drift, unresolved, success, standby]) metric.remove({ target });
      }
    },
    observe: (target, now) => {
      const isNew = !known.has(target);
      known.add(target);
      for (const result of passes) passCount.inc({ target, result }, 0);
      for (const result of results) stepCount.inc({ target, result }, 0);
      if (isNew) for (const metric of [drift, unresolved, standby]) metric.set({ target }, 0);
      const applied = ({ report, plan }: ApplyEvent): void => {
        passCount.inc({ target, result: "applied" });
        for (const result of results) stepCount.inc({ target, result }, report.summary[result]);
        drift.set({ target }, plan.summary.drift);
        const { failed, blocked, skipped, unknown } = report.summary;
        unresolved.set({ target }, failed + blocked + skipped + unknown);
        if (failed + unknown === 0) success.set({ target }, Math.floor(now() / 1000));
      };
      return {
        tell: (event) => {
          if (event.what === "standing-by") standby.set({ target }, 1);
          if (event.what === "taking-over") standby.set({ target }, 0);
          if (event.what === "applied") applied(event);
          if (event.what === "read" && event.isRefused) passCount.inc({ target, result: "refused" });
          if (event.what === "superseded" || event.what === "kept") passCount.inc({ target, result: event.what });
        },
        failure: () => passCount.inc({ target, result: "failed" }),
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
