import { expect, test } from "vitest";
import { createPassWatch, newStatus, statusAfter } from "../../../src/daemon/status-after-pass.ts";

const times = { startedAt: 1_000, endedAt: 2_000, nextAt: 3_000, wanted: "abc" };

test("a pass that took over after a wait has applied nothing", () => {
  const watch = createPassWatch();
  watch.observer.tell({ what: "standing-by", message: "ada's process leads" });
  watch.observer.tell({ what: "taking-over" });
  watch.observer.tell({ what: "superseded" });
  const { lastPass, condition, appliedRevision } = statusAfter(newStatus("prod", null), watch.take(), times);
  expect(lastPass).toMatchObject({ result: "standing-by", reason: "StandingBy" });
  expect([condition, appliedRevision]).toEqual(["Reconciling", null]);
});
