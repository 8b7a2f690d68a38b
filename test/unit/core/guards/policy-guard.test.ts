import { describe, expect, test } from "vitest";
import type { PolicyFinding } from "../../../../src/contract/generated/output.ts";
import { guardedSteps, guardMessages } from "../../../../src/core/guards/guarded-steps.ts";
import {
  findingDiagnostic,
  findingLevels,
  planDiagnostics,
  refusedSteps,
  withPolicyGuard,
} from "../../../../src/core/guards/policy-guard.ts";
import type { Risk } from "../../../../src/core/plan/plan.ts";
import { NO_FINDINGS } from "../../../../src/core/policies/policy.ts";
import { declare, plan, present, service } from "../given.ts";

const finding = (name: string, severity: PolicyFinding["severity"]): PolicyFinding => ({
  ...{ name, severity, message: `${name} says no` },
  ...{ file: "p.yaml", line: 4, column: 2 },
});
const [deny, confirm, warn] = [finding("d", "deny"), finding("c", "confirm"), finding("w", "warn")];
const none = () => false;

const A = "service/c1:ws1/a";
const planned = plan(
  ["a", "b", "same"].map((name) => declare(service({ name, replicas: 2 }))),
  {
    live: {
      [A]: { state: "absent" },
      "service/c1:ws1/b": { state: "absent" },
      "service/c1:ws1/same": present(service({ name: "same", replicas: 2 })),
    },
  },
);

describe("the steps that policies refuse", () => {
  test.each<[string, Partial<typeof NO_FINDINGS>, (name: string) => boolean, readonly unknown[]]>([
    ["are none without findings", {}, none, []],
    ["are those that write, where one is about the whole plan", { plan: [deny] }, none, [A, "service/c1:ws1/b"]],
    ["are those that it is about", { steps: new Map([[A, [confirm]]]) }, none, [A]],
    ["are none where all are allowed", { plan: [confirm], steps: new Map([[A, [confirm]]]) }, () => true, []],
    ["are none where it only warns", { plan: [warn], steps: new Map([[A, [warn]]]) }, none, []],
    ["are none that write nothing", { steps: new Map([["service/c1:ws1/same", [deny]]]) }, none, []],
  ])("%s", (_, findings, isAllowed, refused) => {
    expect([...refusedSteps(planned.plan, { ...NO_FINDINGS, ...findings }, isAllowed).keys()]).toEqual(refused);
    const guarded = guardedSteps(
      { ...planned, findings: { ...NO_FINDINGS, ...findings } },
      { risks: new Set(), isAllowed },
    );
    expect(guarded.map(({ step }) => step.identity)).toEqual(refused);
  });

  test("have each reason, and then what allows them", () => {
    const findings = { plan: [confirm], steps: new Map([[A, [finding("c2", "confirm")]]]) };
    expect(refusedSteps(planned.plan, findings, none).get(A)).toBe(
      "policy c asks a person: c says no (p.yaml:4), policy c2 asks a person: c2 says no (p.yaml:4); --allow-policy c --allow-policy c2 allows it",
    );
  });

  test("are told with what is about them alone, after their dangers, and a flag may allow both", () => {
    const made = plan([declare({ type: "team", name: "ml", members: ["ada@x.io"] })], {
      live: { "team/ml": { state: "absent" } },
    });
    const findings = { plan: [finding("p", "confirm")], steps: new Map([["team/ml", [confirm]]]) };
    const risks = new Set<Risk>(["privilege-growth"]);
    const [guarded, ...others] = guardedSteps({ ...made, findings }, { risks, isAllowed: none });
    if (guarded === undefined || others.length > 0) throw new TypeError("not one step");
    expect(guarded).toMatchObject({ needsPerson: false, findings: [confirm] });
    expect(guarded.guard.flags).toEqual(["--allow-privilege", "--allow-policy p", "--allow-policy c"]);
    expect(
      guardMessages(guarded).map(({ pointer, diagnostic: { code, file, line, column } }) => [
        pointer,
        code,
        file,
        line,
        column,
      ]),
    ).toEqual([
      ["/members/0", "privilege-growth", "ml.yaml", 1, 1],
      [null, "policy", "ml.yaml", 1, 1],
    ]);
  });

  test("need a person where no flag allows one of their risks", () => {
    const made = plan([declare(service({ replicas: 0 }))], {
      live: { "service/c1:ws1/api": present(service({ replicas: 2 }), { createdBy: "them" }) },
      writers: new Set(["me"]),
    });
    const needsPerson = (...risks: readonly Risk[]) =>
      guardedSteps(made, { risks: new Set(risks), isAllowed: none }).map((one) => one.needsPerson);
    expect([needsPerson("adopts"), needsPerson("adopts", "scale-to-zero")]).toEqual([[false], [true]]);
  });
});

describe("the guard of a step", () => {
  const guard = { flags: ["--allow-adopt"], dangers: [] };

  test("stays as it is where policies find nothing", () => {
    expect([withPolicyGuard(guard, []), withPolicyGuard(null, [])]).toEqual([guard, null]);
  });

  test("has the flags of policies beside its own", () => {
    expect(withPolicyGuard(guard, [confirm])).toEqual({
      ...{ flags: ["--allow-adopt", "--allow-policy c"], dangers: [], policies: ["c"] },
    });
    expect(withPolicyGuard(null, [confirm])).toEqual({ flags: ["--allow-policy c"], dangers: [], policies: ["c"] });
  });

  test("has no flag where a policy denies", () => {
    expect(withPolicyGuard(guard, [confirm, deny])).toEqual({
      ...{ flags: [], dangers: [], policies: ["c", "d"], isDenied: true },
    });
  });
});

describe("a finding in a plan", () => {
  const [step] = planned.plan.steps;
  if (step === undefined) throw new TypeError("no step");

  test("is told at the manifest of its step", () => {
    expect(findingDiagnostic(confirm, step)).toEqual({
      ...{ severity: "error", code: "policy", file: "a.yaml", line: 1, column: 1 },
      summary: "service/c1:ws1/a: c says no",
      detail: "Policy c (p.yaml:4:2): --allow-policy c allows it",
    });
    expect(findingDiagnostic(confirm, { ...step, line: null })).toMatchObject({ line: null, column: null });
  });

  test("about the whole plan is told at the policy, and a warning needs no permission", () => {
    expect(findingDiagnostic(warn, null)).toEqual({
      ...{ severity: "warning", code: "policy", file: "p.yaml", line: 4, column: 2 },
      ...{ summary: "the plan: w says no", detail: "Policy w (p.yaml:4:2)" },
    });
  });

  test.each<[string, PolicyFinding, boolean, string]>([
    ["that denies is an error", deny, false, "error"],
    ["that warns is none", warn, true, "warning"],
    ["that asks is none", confirm, false, "warning"],
    ["that asks is one where the plan is to be signed", confirm, true, "error"],
    ["that asks and is allowed is none where the plan is to be signed", finding("c2", "confirm"), true, "warning"],
  ])("%s", (_, one, isToBeSigned, level) => {
    const guard = { flags: [], dangers: [], policies: ["c", "w"] };
    expect(findingLevels({ steps: [step, { ...step, guard }] }, isToBeSigned)(one)).toBe(level);
  });

  test("has a code of its own for code scanning, in place of that of all policies", () => {
    const other = {
      severity: "warning",
      code: "other",
      summary: "s",
      detail: null,
      file: null,
      line: null,
      column: null,
    } as const;
    const scanned = { ...planned.plan, policies: [warn], steps: [{ ...step, policies: [confirm] }, step] };
    const found = planDiagnostics({ ...scanned, diagnostics: [other, findingDiagnostic(confirm, step)] }, ({ name }) =>
      name === "c" ? "error" : "warning",
    );
    expect(found.map(({ severity, code, file }) => [severity, code, file])).toEqual([
      ["warning", "other", null],
      ["warning", "policy/w", "p.yaml"],
      ["error", "policy/c", "a.yaml"],
    ]);
    expect(planDiagnostics({ ...planned.plan, diagnostics: [other] }, () => "error")).toEqual([other]);
  });
});
