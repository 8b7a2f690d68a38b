import { expect, test } from "vitest";
import { KnownServer } from "../../../src/engine/known-server.ts";
import { noFacts } from "../../../src/state/server-facts.ts";

const MINUTE = 60_000;

test("F73 that a route is there is remembered between runs, that it is missing is not", () => {
  const memory = new KnownServer({ ...noFacts, routes: { listApps: "no", listTeams: "yes" } });
  expect([memory.get("listApps"), memory.get("listTeams")]).toEqual([undefined, "yes"]);
  memory.set("listClusters", "yes");
  memory.set("putLease", "no");
  expect([memory.get("putLease"), memory.has("putLease"), memory.knows("putLease")]).toEqual(["no", false, true]);
  expect(memory.facts().routes).toEqual({ listTeams: "yes", listClusters: "yes" });
});

test("F73 what was missing is asked for again after an hour", () => {
  let now = 0;
  const memory = new KnownServer(noFacts, { clock: () => now });
  memory.set("putLease", "no");
  now = 59 * MINUTE;
  expect(memory.missing(["putLease", "listTeams"])).toEqual(["putLease"]);
  now = 60 * MINUTE;
  expect([memory.has("putLease"), memory.knows("putLease"), memory.missing(["putLease"])]).toEqual([true, false, []]);
});

test("F73 a route that answers is no longer missing", () => {
  const memory = new KnownServer(noFacts);
  memory.set("listTeams", "no");
  memory.set("listTeams", "yes");
  expect([memory.get("listTeams"), memory.has("listTeams")]).toEqual(["yes", true]);
});
