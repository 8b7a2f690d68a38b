import { Gauge, type Registry } from "prom-client";
import type { TargetOverview } from "./status-route.ts";

type Reading = (overview: TargetOverview, now: number) => number;

const readings: readonly (readonly [name: string, help: string, read: Reading])[] = [
  [
    "holdfast_oldest_unapplied_seconds",
    "How long the oldest unapplied commit has waited; 0 if there is none.",
    ({ status: { oldestUnapplied } }, now) =>
      oldestUnapplied === null ? 0 : Math.max(0, (now - Date.parse(oldestUnapplied.since)) / 1000),
  ],
  [
    "holdfast_unknown_resources",
    "Resources whose last write has an unknown outcome.",
    ({ status }) => status.unknown.length,
  ],
  ["holdfast_held", "Resources and commits on hold.", ({ status }) => status.held.length],
  ["holdfast_lease_held", "1 while the lease on the control plane is held.", ({ hasLease }) => (hasLease ? 1 : 0)],
];

/** Registers gauges that read the status of each target on every scrape. */
export function registerTargetMetrics(
  registry: Registry,
  targets: () => Promise<readonly TargetOverview[]>,
  now: () => number,
): void {
  new Gauge({
    name: "holdfast_target_info",
    help: "The status of each target, always 1: the labels are those of holdfast status.",
    labelNames: ["target", "sync", "condition", "reason"],
    registers: [registry],
    async collect() {
      const overviews = await targets();
      this.reset();
      for (const { status } of overviews) {
        const { target, sync, condition, reason } = status;
        this.set({ target, sync, condition, reason: reason ?? "" }, 1);
      }
    },
  });
  for (const [name, help, read] of readings) {
    new Gauge({
      name,
      help,
      labelNames: ["target"],
      registers: [registry],
      async collect() {
        const overviews = await targets();
        this.reset();
        // No pass changes those of a retired target.
        for (const overview of overviews)
          if (overview.status.condition !== "Retired")
            this.set({ target: overview.status.target }, read(overview, now()));
      },
    });
  }
}
