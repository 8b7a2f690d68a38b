import { expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { KnownServer } from "../../../src/engine/known-server.ts";
import { noFacts } from "../../../src/state/server-facts.ts";

const MINUTE = 60_000;

test("F73 that a route is there is remembered between runs, that it is missing is not", () => {
  const serverFacts = new KnownServer(
    { ...noFacts, routes: { listApps: "no", listTeams: "yes" } },
    { clock: systemClock },
  );
  expect([serverFacts.get("listApps"), serverFacts.get("listTeams")]).toEqual([undefined, "yes"]);
  serverFacts.set("listClusters", "yes");
  serverFacts.set("putLease", "no");
  expect([serverFacts.get("putLease"), serverFacts.has("putLease"), serverFacts.knows("putLease")]).toEqual([
    "no",
    false,
    true,
  ]);
  expect(serverFacts.facts().routes).toEqual({ listTeams: "yes", listClusters: "yes" });
});

test("F73 what was missing is asked for again after an hour", () => {
  let now = 0;
  const serverFacts = new KnownServer(noFacts, { clock: { ...systemClock, monotonic: () => now } });
  serverFacts.set("putLease", "no");
  now = 59 * MINUTE;
  expect(serverFacts.missing(["putLease", "listTeams"])).toEqual(["putLease"]);
  now = 60 * MINUTE;
  expect([serverFacts.has("putLease"), serverFacts.knows("putLease"), serverFacts.missing(["putLease"])]).toEqual([
    true,
    false,
    [],
  ]);
});

test("F73 a route that answers is no longer missing", () => {
  const serverFacts = new KnownServer(noFacts, { clock: systemClock });
  serverFacts.set("listTeams", "no");
  serverFacts.set("listTeams", "yes");
  expect([serverFacts.get("listTeams"), serverFacts.has("listTeams")]).toEqual(["yes", true]);
});
