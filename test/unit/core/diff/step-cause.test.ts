import { describe, expect, test } from "vitest";
import type { Cause } from "../../../../src/core/diff/field-cause.ts";
import {
  type CausedBy,
  causedByDifferences,
  causedByManifest,
  type ManifestViews,
} from "../../../../src/core/diff/step-cause.ts";
import { hasChanges } from "../../../../src/core/plan/plan.ts";
import { against, declare, plan, present, recorded, service } from "../given.ts";

describe("who caused a step, by its differences", () => {
  test.each<[readonly [Cause, boolean][], CausedBy | null]>([
    [[], null],
    [[["manifest", true]], "change"],
    [[["pending", false]], "pending"],
    [[["drift", false]], "drift"],
    [[["unrecorded", false]], "unrecorded"],
    [[["conflict", true]], "mixed"],
    [[["conflict", false]], "drift"],
    [
      [
        ["manifest", true],
        ["drift", false],
      ],
      "mixed",
    ],
    [
      [
        ["pending", false],
        ["unrecorded", false],
        ["drift", false],
      ],
      "drift",
    ],
    [
      [
        ["pending", false],
        ["unrecorded", false],
      ],
      "unrecorded",
    ],
  ])("%j is %s", (differences, causedBy) => {
    const given = differences.map(([cause, isOfThisChange]) => ({ cause, isOfThisChange }));
    expect(causedByDifferences(given)).toBe(causedBy);
  });
});

describe("who caused a step that makes a whole resource", () => {
  test.each<[ManifestViews, CausedBy | null]>([
    [{ atBase: "not-compared", isAsWritten: null, isAbsent: true }, "change"],
    [{ atBase: "otherwise", isAsWritten: null, isAbsent: true }, "change"],
    [{ atBase: "same", isAsWritten: null, isAbsent: true }, "unrecorded"],
    [{ atBase: "not-compared", isAsWritten: true, isAbsent: true }, "drift"],
    [{ atBase: "not-compared", isAsWritten: false, isAbsent: true }, "mixed"],
    [{ atBase: "same", isAsWritten: false, isAbsent: true }, "drift"],
    [{ atBase: "otherwise", isAsWritten: true, isAbsent: false }, "change"],
    [{ atBase: "same", isAsWritten: false, isAbsent: false }, "pending"],
    [{ atBase: "same", isAsWritten: true, isAbsent: false }, null],
    [{ atBase: "same", isAsWritten: null, applied: "absent", isAbsent: true }, "pending"],
    [{ atBase: "same", isAsWritten: null, applied: "otherwise", isAbsent: false }, "pending"],
    [{ atBase: "same", isAsWritten: null, applied: "same", isAbsent: true }, "drift"],
    [{ atBase: "same", isAsWritten: null, applied: "same", isAbsent: false }, "unrecorded"],
    [{ atBase: "otherwise", isAsWritten: null, applied: "same", isAbsent: true }, "change"],
  ])("%j is %s", (views, causedBy) => {
    expect(causedByManifest(views)).toBe(causedBy);
  });
});

describe("the steps of a plan", () => {
  const written = service({ replicas: 2, service_account: "one" });
  const { identity } = declare(written);

  test("that undo a change in live are not this change's, where the base has both", () => {
    const merged = service({ replicas: 3, service_account: "one" });
    const live = present(service({ replicas: 9, service_account: "one" }));
    const step = against(merged, live, { recorded: [recorded(written)], base: new Map([[identity, merged]]) });
    expect(step).toMatchObject({ causedBy: "drift", changes: [{ cause: "conflict" }] });
  });

  test("are this change's and drift's where both touch the resource", () => {
    const changed = service({ replicas: 2, service_account: "two" });
    const live = present(service({ replicas: 9, service_account: "one" }));
    const step = against(changed, live, { recorded: [recorded(written)] });
    expect(step.causedBy).toBe("mixed");
  });

  test("orphan what the change removes, without a record too, and never what the base declares and live lacks", () => {
    const base = new Map([[identity, written]]);
    const { plan: made } = plan([], { base, live: { [identity]: present(written) } });
    expect(made.steps).toMatchObject([{ action: "orphan", identity, kind: "service", causedBy: "change" }]);
    expect(plan([], { base, live: { [identity]: { state: "absent" } } }).plan.steps).toEqual([]);
    expect(plan([declare(written)], { base, live: { [identity]: present(written) } }).plan.summary.orphan).toBe(0);
  });

  test("orphan as pending what the base has removed already", () => {
    const { plan: made } = plan([], {
      base: new Map(),
      recorded: [recorded(written)],
      live: { [identity]: present(written) },
    });
    expect(made.steps).toMatchObject([{ action: "orphan", causedBy: "pending" }]);
    const applied = new Map([[identity, written]]);
    const { plan: unrecorded } = plan([], { base: new Map(), applied, live: { [identity]: present(written) } });
    expect(unrecorded.steps).toMatchObject([{ action: "orphan", causedBy: "pending" }]);
  });

  test("are signed alike whatever base they were compared with", () => {
    const live = { [identity]: present(service({ replicas: 9, service_account: "one" })) };
    const [first, second] = [null, new Map([[identity, written]])].map((base) =>
      plan([declare(written)], { base, live }),
    );
    expect(first?.plan.checksum).toBe(second?.plan.checksum);
  });
});

describe("a gate", () => {
  const step = (causedBy: CausedBy, action: "create" | "update" | "block" | "ensure" | "orphan" = "update") => {
    return { ...against(service({ replicas: 2 }), present(service({ replicas: 3 }))), action, causedBy };
  };

  test("for this change counts what it caused, alone or with others", () => {
    expect(hasChanges({ steps: [step("pending"), step("drift"), step("unrecorded")] }, "change")).toBe(false);
    for (const causedBy of ["change", "mixed"] as const) {
      expect(hasChanges({ steps: [step("pending"), step(causedBy)] }, "change")).toBe(true);
    }
  });

  test("for all counts creates, updates and what is blocked, and neither orphans nor what is ensured", () => {
    for (const action of ["create", "update", "block"] as const) {
      expect(hasChanges({ steps: [step("drift", action)] }, "all")).toBe(true);
    }
    expect(hasChanges({ steps: [step("change", "orphan"), step("change", "ensure")] }, "all")).toBe(false);
  });
});
