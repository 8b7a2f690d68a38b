import type { Step } from "../../src/core/plan/plan.ts";
import type { ApplyEvent } from "../../src/core/report/events.ts";
import { type Outcome, summariseOutcomes } from "../../src/core/report/report.ts";

/** The event at the end of an apply pass with these outcomes, with the fields that its readers use. */
export function sampleApplyEvent(
  outcomes: readonly Partial<Outcome>[],
  steps: readonly Partial<Step>[] = [],
): ApplyEvent {
  const summary = summariseOutcomes(outcomes as readonly Outcome[]);
  const common = { format_version: "2.2", revision: "c0ffee", server: "http://server", diagnostics: [] } as const;
  return {
    what: "applied",
    isPart: false,
    report: { ...common, summary, outcomes: outcomes as readonly Outcome[] } as ApplyEvent["report"],
    plan: { ...common, steps, summary: { drift: steps.length } } as unknown as ApplyEvent["plan"],
    tokens: [],
    notUsed: [],
    places: new Map(),
  };
}
