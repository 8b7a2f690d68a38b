import { expect, test } from "vitest";
import type { Outcome } from "../../../src/core/report/report.ts";
import { toWatchEvents } from "../../../src/render/watch-events.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";

const blocked: Partial<Outcome> = {
  identity: "team/ml",
  result: "blocked",
  rollout: null,
  error: { code: "guard", message: "would overwrite what somebody else manages" },
};

test("the end of a pass that waits for adoption says so, how many do, and what to do", () => {
  const step = { identity: "team/ml", action: "block", risks: ["adopts"], changes: [{}] } as never;
  const end = toWatchEvents(sampleApplyEvent([blocked, { result: "unchanged" }], [step])).find(
    ({ event }) => event === "incomplete",
  );
  expect(end?.message).toContain(
    "Incomplete: 1 blocked, 1 unchanged; NotAdopted: 1 of 2 blocked until adopted or allowed: team/ml",
  );
  expect(end?.message).toContain("holdfast adopt team/ml");
});

test("the end of any other pass has its counts alone, since the outcomes have their reasons", () => {
  const ends = (outcomes: readonly Partial<Outcome>[]) =>
    toWatchEvents(sampleApplyEvent(outcomes)).filter(({ event }) => /applied|incomplete/.test(event));
  expect(ends([blocked])).toMatchObject([{ event: "incomplete", message: "Incomplete: 1 blocked" }]);
  expect(ends([{ result: "unchanged" }])).toMatchObject([{ event: "applied", message: "Applied: 1 unchanged" }]);
});
