import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import type { PlanInput } from "../../../../src/core/plan/plan-input.ts";
import { type Around, against, causes, declare, plan, present, recorded, service } from "../given.ts";

const API = "service/c1:ws1/api";
const WORKSPACE = "workspace/c1:ws1";
const workspace = (fields: JsonObject = {}) => ({ type: "workspace", name: "ws1", cluster_fqn: "c1", ...fields });

describe("what refers to a resource that is not written", () => {
  const steps = (guards: PlanInput["guards"], around: Around = {}) =>
    plan([declare(workspace({ labels: { a: "1" } })), declare(service())], {
      live: { [WORKSPACE]: present(workspace()), [API]: { state: "absent" } },
      guards,
      ...around,
    }).plan.steps.map(({ action, reason }) => [action, reason]);
  const refused = new Set<never>();

  test.each<[string, PlanInput["guards"], string]>([
    ["a person holds", { refused, held: new Map([[WORKSPACE, "a migration"]]) }, "held"],
    ["a policy refuses", { refused, policies: new Map([[WORKSPACE, "no owner"]]) }, "policy"],
  ])("waits where %s it, though it exists", (_, guards, reason) => {
    expect(steps(guards)).toEqual([
      ["block", reason],
      ["block", reason === "held" ? "held" : "dependency"],
    ]);
  });

  test("is written where only live stays as it is", () => {
    const known = { recorded: [recorded(workspace({ labels: { a: "1" } }))] };
    expect(steps({ refused, writtenBack: new Set() }, known)).toEqual([
      ["block", "held"],
      ["create", null],
    ]);
  });
});

test("what is in sync is not decided on, and counts as kept", () => {
  const others = Array.from({ length: 9 }, (_, nth) => declare(service({ name: `s${nth}` })));
  const around: Around = {
    live: { [API]: present(service({ replicas: 2 })) },
    recorded: [recorded(service({ replicas: 2 }))],
    inSync: new Map(others.map(({ identity }) => [identity, "live"])),
    guards: { refused: new Set(), updateShare: 0.1 },
  };
  const updated = plan([declare(service({ replicas: 3 })), ...others], around);
  expect([...updated.decisions].map(([identity, { action }]) => [identity, action])).toEqual([[API, "update"]]);
  expect(updated.plan.summary).toMatchObject({ update: 1, keep: 9 });
  const limited = plan([declare(service({ replicas: 3 })), ...others], {
    ...around,
    guards: { refused: new Set(), updateShare: 0.05 },
  });
  expect(limited.decisions.get(API)).toMatchObject({ action: "block", reason: "guard" });
});

test("what this repository wrote earlier shows who changed a field of an unrecorded resource", () => {
  const changed = (manifest: JsonObject | null) =>
    causes(
      against(service({ replicas: 2 }), present(service({ replicas: 5 })), { own: new Map([[API, { manifest }]]) }),
    );
  expect(changed(service({ replicas: 2 }))).toEqual({ "/replicas": "drift" });
  expect(changed(service({ replicas: 5 }))).toEqual({ "/replicas": "manifest" });
  expect(changed(null)).toEqual({ "/replicas": "unrecorded" });
});
