import { describe, expect, test } from "vitest";
import { adoptionText, isReadable, needsAdoption, notAdopted } from "../../../../src/core/guards/adoption.ts";
import { guardedSteps } from "../../../../src/core/guards/guarded-steps.ts";
import { UNREAD } from "../../../../src/core/guards/step-guards.ts";
import { withGuards } from "../../../../src/core/plan/make-plan.ts";
import type { Plan, Risk, Step } from "../../../../src/core/plan/plan.ts";
import { declare, plan, present, service } from "../given.ts";

const refused: ReadonlySet<Risk> = new Set(["adopts"]);
const services = ["a", "b", "c"].map((name) => declare(service({ name, replicas: 2 })));
const theirs = (name: string, replicas: number) => present(service({ name, replicas }), { createdBy: "other" });
const live = {
  "service/c1:ws1/a": theirs("a", 5),
  "service/c1:ws1/b": theirs("b", 2),
  "service/c1:ws1/c": theirs("c", 7),
};

const guard = (...risks: readonly Risk[]) => ({
  flags: [],
  dangers: risks.map((risk) => ({ risk, path: null, text: "x" })),
});

function guardedPlan(): Plan {
  const planned = plan(services, { live, writers: new Set(["me"]) });
  const guards = guardedSteps(planned, { risks: refused, isAllowed: () => false });
  return withGuards(planned.plan, new Map(guards.map(({ step, guard }) => [step.identity, guard])), guards.length);
}

describe("what somebody else manages", () => {
  test("is counted, and the ways out are named, where it differs", () => {
    expect(notAdopted(guardedPlan())).toMatchObject({
      severity: "error",
      code: "not-adopted",
      summary:
        "NotAdopted: 2 of 3 declared resources differ and are somebody else's: apply writes nothing until they are adopted or allowed",
      detail: expect.stringContaining("holdfast adopt service/c1:ws1/a service/c1:ws1/c (or --all)"),
    });
  });

  test("is counted among all that is declared", () => {
    const made = guardedPlan();
    const summary = { ...made.summary, create: 1, update: 2, keep: 4, ensure: 8, block: 16, orphan: 32 };
    expect(notAdopted({ ...made, summary, steps: made.steps.slice(0, 1) })).toEqual({
      ...{ severity: "error", code: "not-adopted", file: null, line: null, column: null },
      summary:
        "NotAdopted: 1 of 31 declared resources differs and is somebody else's: apply writes nothing until it is adopted or allowed",
      detail: adoptionText(["service/c1:ws1/a"]),
    });
  });

  test("is no reason where it is equal, allowed or ours", () => {
    const [, equal] = services;
    expect(notAdopted(plan(equal === undefined ? [] : [equal], { live, writers: new Set(["me"]) }).plan)).toBeNull();
    expect(notAdopted(plan(services, { live, writers: new Set(["me"]) }).plan)).toBeNull();
    expect(notAdopted(plan(services, { live, writers: new Set(["other"]), guards: { refused } }).plan)).toBeNull();
  });

  test("is not told to be adopted where it cannot be read", () => {
    const [step] = guardedPlan().steps;
    if (step?.guard === undefined) throw new TypeError("the step has no guard");
    const unread = {
      ...step,
      guard: { ...step.guard, dangers: [{ risk: "adopts", path: null, text: UNREAD }] },
    } as const;
    expect([needsAdoption(unread), isReadable(unread)]).toEqual([true, false]);
    expect(notAdopted({ ...guardedPlan(), steps: [unread] })).toBeNull();
  });

  test.each<[string, Partial<Step>, readonly [needs: boolean, isReadable: boolean]]>([
    ["a step that is blocked, with what would change", { action: "block" }, [true, true]],
    ["a step that is blocked, of which nothing is known", { action: "block", changes: [] }, [true, false]],
    ["a step that is allowed", {}, [false, true]],
    ["a step with another danger too", { guard: guard("adopts", "exposure") }, [true, true]],
    ["a step of which only another danger is refused", { guard: guard("exposure") }, [false, false]],
    [
      "a step with another danger, which cannot be read",
      { guard: { flags: [], dangers: [...guard("exposure").dangers, { risk: "adopts", path: null, text: UNREAD }] } },
      [true, false],
    ],
    ["a step that is ours", { action: "block", risks: [] }, [false, true]],
  ])("waits to be adopted, and can be, or not: %s", (_, fields, expected) => {
    const [{ guard: __, ...step } = {} as Step] = guardedPlan().steps;
    const given = { ...step, ...fields };
    expect([needsAdoption(given), isReadable(given)]).toEqual(expected);
  });

  test("is named in a command up to ten times", () => {
    expect(adoptionText(["service/c1:ws1/a"])).toBe(
      "holdfast import --update service/c1:ws1/a takes what a write would lose into git, holdfast adopt service/c1:ws1/a lets git overwrite it, --allow-adopt overwrites it at once",
    );
    expect(adoptionText(Array.from({ length: 10 }, (_, nth) => `t${nth}`))).toBe(
      "holdfast import --update t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 takes what a write would lose into git, holdfast adopt t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 (or --all) lets git overwrite them, --allow-adopt overwrites them at once",
    );
    expect(adoptionText(Array.from({ length: 11 }, (_, nth) => `team/t${nth}`))).toMatch(
      /--update ID… .* adopt ID… \(or --all\) /,
    );
  });
});

describe("the first write of a daemon", () => {
  const held = (creates: boolean) =>
    plan([...services, declare(service({ name: "new" }))], {
      live: {
        ...live,
        "service/c1:ws1/new": { state: "absent" },
        ...(creates ? {} : { "service/c1:ws1/a": theirs("a", 2) }),
      },
      writers: new Set(creates ? ["me"] : ["other"]),
      guards: { refused, isFirst: true },
    }).plan.steps.map(({ identity, action }) => [identity, action]);

  test("waits as a whole for what somebody else manages", () => {
    expect(held(true)).toContainEqual(["service/c1:ws1/new", "block"]);
  });

  test("does not wait where everything is absent, equal or ours", () => {
    expect(held(false)).toContainEqual(["service/c1:ws1/new", "create"]);
  });
});
