import { expect, test } from "vitest";
import type { ReadEvent } from "../../../../src/core/report/events.ts";
import type { Outcome } from "../../../../src/core/report/report.ts";
import { settledEnd } from "../../../../src/core/report/settled-pass.ts";
import { sampleApplyEvent } from "../../../support/sample-apply-event.ts";

const otherDocuments = { documents: 0, types: new Map(), filesOfOurTypes: [], diagnostics: [] };
const read = {
  what: "read",
  diagnostics: [],
  selected: [],
  leftOut: new Map(),
  otherDocuments,
} as unknown as ReadEvent;

test.each<[boolean, string, readonly Partial<Outcome>[], object]>([
  [true, "found all unchanged", [{ result: "unchanged", rollout: null }], {}],
  [true, "saw a rollout succeed", [{ result: "unchanged", rollout: "succeeded" }], {}],
  [true, "found nothing declared", [], {}],
  [
    false,
    "wrote one of two",
    [
      { result: "unchanged", rollout: null },
      { result: "updated", rollout: null },
    ],
    {},
  ],
  [false, "found drift", [], { drift: 1 }],
  [false, "found an orphan", [], { orphan: 1 }],
])("it is %s that a pass has left nothing to do that %s", (isSettled, _, outcomes, summary) => {
  const applied = sampleApplyEvent(outcomes);
  const plan = {
    ...applied.plan,
    complete: true,
    summary: { ...applied.plan.summary, drift: 0, orphan: 0, ...summary },
  };
  expect(settledEnd(read, { ...applied, plan }) !== null).toBe(isSettled);
});
