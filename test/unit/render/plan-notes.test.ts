import { expect, test } from "vitest";
import type { Step } from "../../../src/core/plan/plan.ts";
import { notCheckedCounts } from "../../../src/render/plan-notes.ts";

test("what no dry run has checked is counted by reason, one step in the singular", () => {
  const steps = (["unsupported", "depends-on", "depends-on"] as const).map((reason) => ({ notChecked: { reason } }));
  expect(notCheckedCounts(steps as readonly unknown[] as readonly Step[])).toBe(
    "Not dry-run: 2 refer to what does not exist yet, 1 is of a kind without a dry run",
  );
  expect(notCheckedCounts([])).toBe("");
});
