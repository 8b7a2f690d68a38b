import { describe, expect, test } from "vitest";
import { isLooserGuard, refusedRisks, requireUnguarded } from "../../../../src/core/guards/step-guards.ts";
import type { Live } from "../../../../src/core/live.ts";
import type { Risk } from "../../../../src/core/plan/plan.ts";
import { declare, plan, present, recorded, service } from "../given.ts";

const refused: ReadonlySet<Risk> = new Set(["adopts"]);
const workspace = { type: "workspace", name: "ws1", cluster_fqn: "c1" };
const others: Live = present({ ...workspace, labels: { team: "other" } }, { createdBy: "other" });

describe("the guards of a daemon", () => {
  test("hold back a step and what refers to it, though that is there, and nothing else", () => {
    const manifests = [workspace, service(), { type: "team", name: "ml", members: ["a@x.io"] }].map((one) =>
      declare(one),
    );
    const { plan: made } = plan(manifests, {
      live: { "workspace/c1:ws1": others, "service/c1:ws1/api": { state: "absent" }, "team/ml": { state: "absent" } },
      writers: new Set(["me"]),
      guards: { refused },
    });
    expect(made.steps.map(({ identity, action, reason, risks }) => [identity, action, reason, risks])).toEqual([
      ["team/ml", "create", null, ["privilege-growth"]],
      ["workspace/c1:ws1", "block", "guard", ["adopts"]],
      ["service/c1:ws1/api", "block", "dependency", []],
    ]);
    expect(made.summary).toMatchObject({ create: 1, block: 2 });
    expect(made.diagnostics[0]?.detail).toContain("(/labels/team)");
  });

  test("name each danger of a step, and what allows it once", () => {
    const { plan: made } = plan(
      [declare(service({ replicas: 0, ports: [{ port: 80, expose: true, host: "a.b.io" }] }))],
      {
        live: { "service/c1:ws1/api": present(service({ replicas: 2 }), { createdBy: "me" }) },
        writers: new Set(["me"]),
        guards: { refused: new Set<Risk>(["scale-to-zero", "exposure", "secret-removed"]) },
      },
    );
    expect(made.steps).toMatchObject([{ action: "block", reason: "guard", risks: ["scale-to-zero", "exposure"] }]);
    expect(made.diagnostics[0]?.detail).toBe(
      "may leave no replica running, would change what the network can reach; confirm it at a terminal, or change guards in the configuration",
    );
  });

  test.each([
    [13, 3, false],
    [13, 4, true],
    [9, 9, false],
    [10, 3, false],
  ])("of %i resources hold back %i updates: %s", (count, changed, holds) => {
    const names = Array.from({ length: count }, (_, index) => `s${index}`);
    const manifests = names.map((name, index) => declare(service({ name, replicas: index < changed ? 3 : 1 })));
    const live = Object.fromEntries(
      names.map((name) => [`service/c1:ws1/${name}`, present(service({ name, replicas: 1 }))]),
    );
    const receipts = names.map((name) => recorded(service({ name, replicas: 1 })));
    const { summary } = plan(manifests, { live, recorded: receipts, guards: { refused } }).plan;
    expect(summary).toMatchObject(holds ? { update: 0, block: changed } : { update: changed, block: 0 });
  });
});

describe("a guard of the configuration", () => {
  test("refuses what the default one does, and what else it is told to", () => {
    expect([...refusedRisks({})]).toEqual(["adopts", "privilege-growth"]);
    expect([...refusedRisks({ adopts: "mark", exposure: "refuse", reverts: null })]).toEqual([
      "privilege-growth",
      "exposure",
    ]);
  });

  test("is looser than the default one where it only marks what that refuses", () => {
    expect(isLooserGuard({ exposure: "mark", "scale-to-zero": "refuse", adopts: "refuse" })).toBe(false);
    expect(isLooserGuard({ adopts: "mark" })).toBe(true);
    expect(isLooserGuard({ "privilege-growth": "mark" })).toBe(true);
  });
});

test("a plan that nobody has confirmed is refused for every step that a guard refuses, with its file and line", () => {
  const { plan: made } = plan([declare(workspace)], { live: { "workspace/c1:ws1": others }, writers: new Set(["me"]) });
  expect(() => requireUnguarded(made, new Set(["exposure"]))).not.toThrow();
  expect(() => requireUnguarded(made, refused)).toThrow(
    expect.objectContaining({
      code: "refused",
      diagnostics: [expect.objectContaining({ code: "adopts", file: "ws1.yaml", line: 1 })],
    }),
  );
  const [step] = made.steps;
  if (step === undefined) throw new Error("the plan has no step");
  const both = { ...made, steps: [{ ...step, risks: ["adopts", "exposure"] as const }] };
  expect(() => requireUnguarded(both, new Set(["adopts", "exposure"]))).toThrow("guards refuse one step of this plan");
});
