import { expect, test } from "vitest";
import { planVariables, stepVariables } from "../../../../src/core/policies/policy-input.ts";
import { kindOf, kindsByType } from "../../../../src/kinds/index.ts";
import { declare, plan, present, service } from "../given.ts";

const amounts = { replicas: 0, cpu: 0, memory: 0, storage: 0, devices: {} };

test("a policy over the plan sees the steps that write, and what they reserve", () => {
  const { plan: made } = plan(
    ["new", "same"].map((name) => declare(service({ name }))),
    { live: { "service/c1:ws1/new": { state: "absent" }, "service/c1:ws1/same": present(service({ name: "same" })) } },
  );
  const given = { kinds: kindsByType, target: "prod" };
  const seen = planVariables(made, { ...given, hardware: null });
  expect(seen).toMatchObject({
    target: "prod",
    plan: {
      ...{ summary: { create: 1, keep: 1 }, hardware: { ...amounts, workspaces: {} } },
      steps: [
        {
          ...{ action: "create", kind: "service", identity: "service/c1:ws1/new", name: "new", workspace: "c1:ws1" },
          ...{ causedBy: "change", causes: ["manifest"], risks: [], file: "new.yaml" },
        },
      ],
    },
  });
  const difference = { replicas: 2, cpu: 1, memory: 3, storage: 4, devices: [{ name: "T4", count: 5 }] };
  const reserved = { ...difference, devices: { T4: 5 } };
  const hardware = { total: difference, workspaces: [{ workspace: "c1:ws1", difference }] };
  expect(planVariables(made, { ...given, hardware })).toMatchObject({
    plan: { hardware: { ...reserved, workspaces: { "c1:ws1": reserved } } },
  });
});

test("a policy over a step sees both manifests without nulls and secrets, and who wrote live", () => {
  const kind = kindOf("service");
  const [step] = plan([declare(service())], { live: { "service/c1:ws1/api": { state: "absent" } } }).plan.steps;
  if (kind === undefined || step === undefined) throw new TypeError("no step");
  const after = service({ labels: null, ports: [{ port: 80, host: null }], env: { PASSWORD: "hunter2" } });
  const seen = (live: Parameters<typeof stepVariables>[1]["live"]) =>
    stepVariables(step, { kind, live, after }, kindsByType);
  expect(seen(null)).toMatchObject({ before: null, author: null, risks: [] });
  expect(seen(null).after).toEqual(service({ ports: [{ port: 80 }], env: { PASSWORD: "(sensitive)" } }));
  const row = { key: "k", id: "1", manifest: service({ labels: null }), stamp: "s", version: 1 };
  expect(seen({ ...row, author: "user:ada" })).toMatchObject({ before: service(), author: "user:ada" });
  expect(seen(row).author).toBeNull();
});
