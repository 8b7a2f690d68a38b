import { expect, test } from "vitest";
import { missingExtensions } from "../../../src/core/missing-extensions.ts";
import { mergeFacts } from "../../../src/core/server-facts.ts";

test("facts about a control plane are merged, and null removes one", () => {
  const stored = { routes: { a: "yes", b: "no" }, dryRun: "proven", subject: "u1" };
  expect(mergeFacts(stored, { routes: { b: null, c: "yes" }, subject: null, registers: true })).toEqual({
    ...{ routes: { a: "yes", c: "yes" }, dryRun: "proven", registers: true },
  });
  expect(mergeFacts({ routes: "odd" }, { routes: { a: "yes" } })).toEqual({ routes: { a: "yes" } });
  expect(mergeFacts(stored, {})).toEqual(stored);
});

test("the extensions that a control plane lacks are told in order, each once, with what that costs", () => {
  const missing = missingExtensions(["getCaller", "listOwnTeams", "putWorkspace", "listClusters", "putWorkspace"]);
  expect(missing.map(({ extension, cost }) => [extension, cost])).toEqual([
    ["E1", "workspaces are verified, not written"],
    ["E3", "each cluster is read by its id"],
    ["E6", ""],
    ["E14", expect.any(String)],
  ]);
  expect(missing[0]?.operation).toBe("PUT /api/svc/v1/workspaces");
});
