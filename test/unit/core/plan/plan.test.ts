import { expect, test } from "vitest";
import { hasChanges, isDrifted, notCheckedText, type Step, summarise, writes } from "../../../../src/core/plan/plan.ts";
import { sampleChange, sampleStep } from "../../../support/sample-plan.ts";

const actions = ["create", "update", "keep", "block", "ensure", "orphan"] as const;
const stepOf = (fields: Partial<Step>) => sampleStep("team/ml", fields);

test("creates, updates and ensures write", () => {
  expect(actions.filter((action) => writes({ action }))).toEqual(["create", "update", "ensure"]);
});

test("drift and conflicts alone are drift", () => {
  const causes = ["manifest", "pending", "drift", "conflict", "unrecorded", "default", "server", "ignored"] as const;
  const changed = (...all: readonly (typeof causes)[number][]) =>
    stepOf({ changes: all.map((cause) => sampleChange("replicas", 1, 2, cause)) });
  expect(causes.filter((cause) => isDrifted(changed(cause)))).toEqual(["drift", "conflict"]);
  expect(isDrifted(changed("manifest", "drift"))).toBe(true);
});

test("creates, updates and blocks are changes, by any cause or by the change under review", () => {
  const counts = (gate: "change" | "all", fields: Partial<Step>) => hasChanges({ steps: [stepOf(fields)] }, gate);
  const changes = ["create", "update", "block"];
  expect(actions.filter((action) => counts("all", { action, causedBy: "drift" }))).toEqual(changes);
  expect(actions.filter((action) => counts("change", { action }))).toEqual(changes);
  const causes = ["change", "pending", "drift", "mixed", "unrecorded", null] as const;
  expect(causes.filter((causedBy) => counts("change", { causedBy }))).toEqual(["change", "mixed"]);
  const one = [stepOf({ action: "keep" }), stepOf({ action: "create" })];
  expect([hasChanges({ steps: one }, "change"), hasChanges({ steps: [] }, "all")]).toEqual([true, false]);
});

test("a summary counts steps by their action, and what is not recorded by its cause or by that of a change", () => {
  const unrecorded = { changes: [sampleChange("a", 1, 2), sampleChange("b", 1, 2, "unrecorded")] };
  const steps = actions.flatMap((action, at) => Array.from({ length: at + 1 }, () => stepOf({ action })));
  const none = { create: 1, update: 2, keep: 3, block: 4, ensure: 5, orphan: 6, refused: 0, invalid: 0 };
  expect(summarise(steps, 7)).toEqual({ ...none, drift: 7, unrecorded: 0 });
  const more = [
    ...steps,
    stepOf({ action: "ensure", causedBy: "unrecorded" }),
    stepOf({ action: "create", ...unrecorded }),
  ];
  expect(summarise(more, 0, 10)).toEqual({ ...none, create: 2, ensure: 6, keep: 13, drift: 0, unrecorded: 2 });
});

test("what was not checked says why, and what it depends on", () => {
  const reasons = ["unproven", "needs-write", "unsupported", "unanswered", "skipped"] as const;
  expect(reasons.map((reason) => notCheckedText({ reason }))).toEqual([
    "not checked: dryRun unproven (not yet verified on this server to change nothing)",
    "not checked: needs write (the token may not request a dry run)",
    "not checked: this kind has no dry run",
    "not checked: the dry run failed",
    "not checked: --no-dry-run",
  ]);
  expect(notCheckedText({ reason: "depends-on", on: ["team/a", "team/b"] })).toBe(
    "not dry-run: depends on team/a, team/b",
  );
  expect(notCheckedText({ reason: "depends-on" })).toBe("not dry-run: depends on ");
});
