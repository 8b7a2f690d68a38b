import { expect, test } from "vitest";
import { ServerCapabilities } from "../../../src/client/server-capabilities.ts";
import { systemClock } from "../../../src/clock/system.ts";
import { noFacts, type ServerFactChanges } from "../../../src/core/server-facts.ts";

const MINUTE = 60_000;

test("F73 that a route is there is remembered between runs, that it is missing is not", () => {
  const capabilities = new ServerCapabilities(
    { ...noFacts, routes: { listApps: "no", listTeams: "yes" } },
    { clock: systemClock },
  );
  expect([capabilities.support("listApps"), capabilities.support("listTeams")]).toEqual(["unknown", "yes"]);
  capabilities.learn("listClusters", "yes");
  capabilities.learn("putLease", "no");
  expect([capabilities.support("putLease"), capabilities.has("putLease"), capabilities.knows("putLease")]).toEqual([
    "no",
    false,
    true,
  ]);
  expect(capabilities.facts().routes).toEqual({ listTeams: "yes", listClusters: "yes" });
});

test("F73 what was missing is asked for again after an hour", () => {
  let now = 0;
  const capabilities = new ServerCapabilities(noFacts, { clock: { ...systemClock, monotonic: () => now } });
  capabilities.learn("putLease", "no");
  now = 59 * MINUTE;
  expect(capabilities.missing(["putLease", "listTeams"])).toEqual(["putLease"]);
  now = 60 * MINUTE;
  expect([capabilities.has("putLease"), capabilities.knows("putLease"), capabilities.missing(["putLease"])]).toEqual([
    true,
    false,
    [],
  ]);
});

test("F73 a route that answers is no longer missing", () => {
  const capabilities = new ServerCapabilities(noFacts, { clock: systemClock });
  capabilities.learn("listTeams", "no");
  capabilities.learn("listTeams", "yes");
  expect([capabilities.support("listTeams"), capabilities.has("listTeams")]).toEqual(["yes", true]);
});

test("what was learned is stored once, and what was agreed to with the next write", async () => {
  const stored: [string, ServerFactChanges][] = [];
  const store = {
    storeFacts: async (facts: ServerFactChanges) => void stored.push(["at once", facts]),
    storeFactsWithNext: (facts: ServerFactChanges) => void stored.push(["with the next write", facts]),
  };
  const capabilities = new ServerCapabilities(noFacts, { clock: systemClock, store });
  await capabilities.save();
  expect(stored).toEqual([]);
  capabilities.learn("listTeams", "yes");
  capabilities.honoursKeys = true;
  await capabilities.save();
  await capabilities.save();
  capabilities.agree({ configured: true, released: ["team/a"] });
  expect(stored).toEqual([
    ["at once", { routes: { listTeams: "yes" }, honoursKeys: true }],
    ["with the next write", { routes: {}, configured: true, released: ["team/a"] }],
  ]);
});
