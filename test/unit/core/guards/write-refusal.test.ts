import { expect, test } from "vitest";
import {
  freezeRefusal,
  writeRefused,
  writeRefusedOutcome,
  writeRefusedWarning,
} from "../../../../src/core/guards/write-refusal.ts";

test("a freeze is told to an apply, in a plan and in the outcomes of steps", () => {
  const refusal = freezeRefusal({ until: Date.UTC(2026, 2, 9, 6), reason: "weekend" });
  expect(refusal).toEqual({
    ...{ code: "frozen", message: "frozen until 2026-03-09T06:00:00Z: weekend", flag: "--allow-window" },
  });
  expect(writeRefused(refusal)).toMatchObject({
    message: "the target is frozen until 2026-03-09T06:00:00Z: weekend",
    hint: "nothing was written: wait for that time, or write all the same with --allow-window, which the history records",
    code: "refused",
  });
  expect(writeRefusedWarning(refusal)).toMatchObject({
    ...{ severity: "warning", code: "frozen", detail: "--allow-window writes all the same" },
    summary: "apply would be refused now: the target is frozen until 2026-03-09T06:00:00Z: weekend",
  });
  expect(writeRefusedOutcome(refusal)).toEqual({
    ...{ code: "frozen", message: "not sent: the target is frozen until 2026-03-09T06:00:00Z: weekend" },
  });
});
