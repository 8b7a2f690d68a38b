import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { type FieldViews, fieldCauseOf, isActedOn } from "../../../../src/core/diff/field-cause.ts";
import { against, causes, declare, present, recorded, service } from "../given.ts";

const [R, D, L, B] = ["recorded", "desired", "live", "base"];

describe("the table of causes", () => {
  const receipt = (written?: string, returned = written) => ({ written, returned });
  test.each<[string, FieldViews, string]>([
    [
      "live stood still and the manifest moved",
      { desired: D, live: R, recorded: receipt(R), base: null, isGiven: true },
      "manifest",
    ],
    [
      "the manifest moved, but before the base",
      { desired: D, live: R, recorded: receipt(R), base: { desired: D }, isGiven: true },
      "pending",
    ],
    [
      "the manifest moved after the base",
      { desired: D, live: R, recorded: receipt(R), base: { desired: B }, isGiven: true },
      "manifest",
    ],
    [
      "live moved and the manifest stood still",
      { desired: R, live: L, recorded: receipt(R), base: null, isGiven: true },
      "drift",
    ],
    [
      "live moved away from the server's own rewriting",
      { desired: R, live: L, recorded: receipt(R, "returned"), base: null, isGiven: true },
      "drift",
    ],
    ["live lost the field", { desired: R, live: undefined, recorded: receipt(R), base: null, isGiven: true }, "drift"],
    ["live gained a field", { desired: undefined, live: L, recorded: receipt(), base: null, isGiven: false }, "drift"],
    ["both moved", { desired: D, live: L, recorded: receipt(R), base: null, isGiven: true }, "conflict"],
    [
      "both moved, the manifest before the base",
      { desired: D, live: L, recorded: receipt(R), base: { desired: D }, isGiven: true },
      "conflict",
    ],
    ["nothing is recorded", { desired: D, live: L, recorded: null, base: null, isGiven: true }, "unrecorded"],
    [
      "nothing is recorded, and the manifest moved after the base",
      { desired: D, live: L, recorded: null, base: { desired: B }, isGiven: true },
      "manifest",
    ],
    [
      "nothing is recorded, and the base says the same",
      { desired: D, live: L, recorded: null, base: { desired: D }, isGiven: true },
      "unrecorded",
    ],
    [
      "nothing is recorded, and the base has no such field",
      { desired: D, live: L, recorded: null, base: { desired: undefined }, isGiven: true },
      "manifest",
    ],
    [
      "nobody moved, and the server would add a field",
      { desired: undefined, live: undefined, recorded: receipt(), base: null, isGiven: false },
      "default",
    ],
    [
      "nobody moved, and the server would rewrite a field",
      { desired: R, live: "returned", recorded: receipt(R, "returned"), base: null, isGiven: true },
      "server",
    ],
  ])("%s", (_, views, cause) => {
    expect(fieldCauseOf(views)).toBe(cause);
  });

  test("what a rule suppresses and what the server alone does is not acted on", () => {
    const acted = ["manifest", "pending", "drift", "conflict", "unrecorded"] as const;
    expect(acted.map(isActedOn)).toEqual(acted.map(() => true));
    expect((["ignored", "default", "server"] as const).map(isActedOn)).toEqual([false, false, false]);
  });
});

describe("the causes in a plan", () => {
  const written = service({ replicas: 2, env: { A: "1", B: "1", C: "1" } });
  const known = { recorded: [recorded(written)] };
  const withEnv = (env: JsonObject) => service({ replicas: 2, env });

  test("are told field by field", () => {
    const live = withEnv({ A: "1", B: "live", C: "live" });
    const step = against(withEnv({ A: "new", B: "1", C: "new" }), present(live), known);
    expect(causes(step)).toEqual({ "/env/A": "manifest", "/env/B": "drift", "/env/C": "conflict" });
    expect(step).toMatchObject({ action: "update", reason: null });
  });

  test("are no difference where the manifest and live moved to the same value", () => {
    const moved = withEnv({ A: "same", B: "1", C: "1" });
    expect(against(moved, present(moved), known)).toMatchObject({ action: "keep", changes: [] });
  });

  test("tell a change that waits to be applied from one that the pull request makes", () => {
    const { identity } = declare(written);
    const base = new Map([[identity, withEnv({ A: "new", B: "1", C: "1" })]]);
    const step = against(withEnv({ A: "new", B: "new", C: "1" }), present(written), { ...known, base });
    expect(causes(step)).toEqual({ "/env/A": "pending", "/env/B": "manifest" });
  });

  test("tell the pull request's own change from what nobody knows where nothing is recorded", () => {
    const { identity } = declare(written);
    const base = new Map([[identity, withEnv({ A: "1", B: "1", C: "1" })]]);
    const live = withEnv({ A: "live", B: "1", C: "1" });
    const step = against(withEnv({ A: "1", B: "new", C: "1" }), present(live), { base });
    expect(causes(step)).toEqual({ "/env/A": "unrecorded", "/env/B": "manifest" });
  });

  test("are told by the commit that was applied last where nothing is recorded, and the change stays the change", () => {
    const { identity } = declare(written);
    const base = new Map([[identity, withEnv({ A: "1", B: "merged", C: "merged", D: "1" })]]);
    const applied = new Map([[identity, withEnv({ A: "1", B: "1", C: "1", D: "new" })]]);
    const live = withEnv({ A: "live", B: "1", C: "live", D: "live" });
    const desired = withEnv({ A: "1", B: "merged", C: "merged", D: "new" });
    const step = against(desired, present(live), { base, applied });
    expect(causes(step)).toEqual({
      "/env/A": "drift",
      "/env/B": "pending",
      "/env/C": "conflict",
      "/env/D": "manifest",
    });
    expect(step.causedBy).toBe("mixed");
  });

  test("stay unknown where the commit that was applied last does not declare the resource, though it is live", () => {
    const { identity } = declare(written);
    const base = new Map([[identity, written]]);
    const step = against(written, present(withEnv({ A: "live", B: "1", C: "1" })), { base, applied: new Map() });
    expect(causes(step)).toEqual({ "/env/A": "unrecorded" });
  });

  test("are the manifest's for everything that the base does not have", () => {
    const step = against(written, present(service({ replicas: 9 })), { base: new Map() });
    expect(new Set(Object.values(causes(step)))).toEqual(new Set(["manifest"]));
  });

  test("are unrecorded without record and base", () => {
    expect(causes(against(service({ replicas: 2 }), present(service({ replicas: 5 }))))).toEqual({
      "/replicas": "unrecorded",
    });
  });
});

describe("what only the server adds or rewrites", () => {
  const declared = service({ ports: [{ port: 80, host: "a" }] });
  const returned = service({
    ports: [{ port: 80, protocol: "TCP", host: "A" }],
    replicas: 1,
    service_account: "added",
  });
  const known = { recorded: [recorded(declared, { returned })] };

  test("is no difference, by the receipt", () => {
    expect(against(declared, present(returned), known)).toMatchObject({ action: "keep", changes: [] });
  });

  test("is no difference, by the schema's defaults, where nothing is recorded", () => {
    const live = {
      ...service({ ports: [{ port: 80, protocol: "TCP", host: "a" }] }),
      replicas: 1,
      allow_interception: false,
    };
    const rollout = { type: "rolling_update", max_unavailable_percentage: 25, max_surge_percentage: 25 };
    expect(against(declared, present({ ...live, rollout_strategy: rollout }))).toMatchObject({ action: "keep" });
  });

  test("is no difference, by a dry run's answer", () => {
    const { identity } = declare(declared);
    const row = { key: "c1:ws1/api", id: "id-1", manifest: returned, stamp: null };
    const dryRuns = new Map([[identity, { state: "answered", row } as const]]);
    expect(against(declared, present(returned), { dryRuns })).toMatchObject({ action: "keep", changes: [] });
  });

  test("does not hide a move in the same item", () => {
    const step = against(service({ ports: [{ port: 80, host: "b" }] }), present(returned), known);
    expect(causes(step)).toEqual({ "/ports/0/host": "manifest" });
  });

  test("does not hide drift of a field left to its default", () => {
    const step = against(declared, present({ ...returned, replicas: 7 }), known);
    expect(causes(step)).toEqual({ "/replicas": "drift" });
    expect(step.changes).toMatchObject([{ before: 7, after: 1 }]);
  });

  test("is shown with its cause and never acted on alone", () => {
    const { identity } = declare(declared);
    const manifest = { ...returned, service_account: "rewritten", replicas: 3 };
    const dryRuns = new Map([
      [identity, { state: "answered", row: { key: "c1:ws1/api", id: "id-1", manifest, stamp: null } } as const],
    ]);
    const step = against({ ...declared, labels: {} }, present(returned), { ...known, dryRuns });
    expect(step.action).toBe("keep");
    expect(step.decision.differences.map(({ cause }) => cause)).toEqual(["default", "default"]);
  });

  test("is no difference when a default is written out or left away", () => {
    const out = against({ ...declared, replicas: 1 }, present(returned), known);
    expect(out).toMatchObject({ action: "keep", changes: [] });
    const away = { recorded: [recorded({ ...declared, replicas: 1 }, { returned })] };
    expect(against(declared, present(returned), away)).toMatchObject({ action: "keep", changes: [] });
  });
});
