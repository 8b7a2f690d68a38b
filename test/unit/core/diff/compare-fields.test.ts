import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { against, causes, declare, present, recorded, service } from "../given.ts";

const written = service({ replicas: 2, service_account: "one" });
const known = { recorded: [recorded(written)] };
const { identity } = declare(written);

test.each<[string, JsonObject, JsonObject, boolean]>([
  ["a field of live", {}, { replicas: 9 }, true],
  ["a field of live and of the manifest", { replicas: 3 }, { replicas: 9 }, true],
  ["one field of live and another of the manifest", { service_account: "two" }, { replicas: 9 }, true],
  ["a field of the manifest", { replicas: 3 }, {}, false],
  ["the manifest and live alike", { replicas: 3 }, { replicas: 3 }, false],
])("a resource has drifted or not where %s changed", (_, declared, found, drifted) => {
  const step = against({ ...written, ...declared }, present({ ...written, ...found }), known);
  expect(step.decision.drifted).toBe(drifted);
});

test("what a rule ignores is named apart, and keeps live's value", () => {
  const ignore = [{ path: "/replicas", reason: "an autoscaler keeps it" }];
  const live = service({ replicas: 9, service_account: "one" });
  const { decision } = against({ ...written, service_account: "two" }, present(live), { ...known, ignore });
  expect(decision.ignored).toEqual([["replicas"]]);
  expect(decision.differences.map(({ tokens }) => tokens)).toEqual([["service_account"]]);
  expect([decision.before, decision.after]).toEqual([live, { ...live, service_account: "two" }]);
  expect(decision.drifted).toBe(false);
});

test("a default that the base or the applied commit writes out is no change of the manifest", () => {
  const others = new Map([[identity, service({ replicas: 1 })]]);
  const live = present(service({ replicas: 5 }));
  expect(causes(against(service(), live, { base: others }))).toEqual({ "/replicas": "unrecorded" });
  expect(causes(against(service(), live, { applied: others }))).toEqual({ "/replicas": "drift" });
});

test("a record without an answer, and one that does not cover the field, shows no cause", () => {
  const live = present(service({ replicas: 5, service_account: "one" }));
  const shown = (fields: Parameters<typeof recorded>[1]) =>
    causes(against(written, live, { recorded: [recorded(written, fields)] }));
  expect(shown({})).toEqual({ "/replicas": "drift" });
  expect(shown({ returned: null })).toEqual({ "/replicas": "unrecorded" });
  expect(shown({ unrecorded: [["replicas"]] })).toEqual({ "/replicas": "unrecorded" });
  expect(shown({ unrecorded: [["service_account"]] })).toEqual({ "/replicas": "drift" });
});
