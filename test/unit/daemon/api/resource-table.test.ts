import { expect, test } from "vitest";
import type { ResourceEvent, ResourceStatus } from "../../../../src/core/report/target-status.ts";
import {
  type KnownResources,
  type ResourceQuery,
  resourceRows,
  resourceTable,
} from "../../../../src/daemon/api/resource-table.ts";

const status = (identity: string, rest: Partial<ResourceStatus> = {}): ResourceStatus => ({
  ...{ identity, state: "unchanged", rollout: null, hasDrifted: false, why: null },
  ...rest,
});
const event = (identity: string, rest: Partial<ResourceEvent> = {}): ResourceEvent => ({
  ...status(identity, { state: "failed", why: "refused" }),
  ...{ at: "2026-11-22T12:00:00.000Z", commit: null },
  ...rest,
});
const known = (rest: Partial<KnownResources>): KnownResources => ({
  ...{ unsettled: [], seen: [], isSeenAlone: true, recorded: [] },
  ...rest,
});
const everything: ResourceQuery = {
  ...{ identity: null, state: [], kind: [], attention: false, search: null, sort: "attention", offset: 0, limit: 100 },
};
const shown = (given: Partial<KnownResources>) =>
  resourceRows(known(given)).map(({ identity, state, since }) => `${identity} ${state} ${since?.slice(11, 16) ?? "-"}`);

test("without a daemon, what has a record is recorded, and what is not as declared has its last event", () => {
  const recorded = ["team/a", "team/b"];
  expect(shown({ recorded, unsettled: [event("team/b"), event("team/c", { state: "blocked" })] })).toEqual([
    "team/b failed 12:00",
    "team/c blocked 12:00",
    "team/a recorded -",
  ]);
});

test("a process that runs all passes shows what it has found, and since when", () => {
  const seen = [status("team/a", { state: "created" }), status("team/b", { state: "failed" })];
  expect(shown({ recorded: ["team/a", "team/z"], unsettled: [event("team/b")], seen })).toEqual([
    "team/b failed 12:00",
    "team/a created -",
  ]);
});

test("where others run passes too, what this process has found counts as long as the state does not know better", () => {
  const seen = [status("team/a", { state: "updated" }), status("team/b"), status("team/c", { state: "failed" })];
  const unsettled = [event("team/b", { state: "blocked" })];
  expect(shown({ recorded: ["team/a", "team/b", "team/c"], unsettled, seen, isSeenAlone: false })).toEqual([
    "team/b blocked 12:00",
    "team/a updated -",
    "team/c recorded -",
  ]);
});

test("the worst comes first, then what waits, what had drifted, what rolls out, and all others by name", () => {
  const seen = [
    status("service/e"),
    status("service/d", { rollout: "progressing" }),
    status("service/c", { state: "updated", hasDrifted: true }),
    status("service/b", { state: "blocked" }),
    status("service/a2", { rollout: "timeout" }),
    status("teams/x.yaml:3", { state: "invalid", why: "teams/x.yaml:3: no type" }),
  ];
  const rows = resourceRows(known({ seen }));
  expect(rows.map(({ identity, kind }) => [identity, kind])).toEqual([
    ["service/a2", "service"],
    ["teams/x.yaml:3", ""],
    ["service/b", "service"],
    ["service/c", "service"],
    ["service/d", "service"],
    ["service/e", "service"],
  ]);
  expect(rows.map(({ needsAttention }) => needsAttention)).toEqual([true, true, true, true, false, false]);
});

test("filters, order and a window choose the entries, and the counts are those of all", () => {
  const seen = ["team/B", "team/a", "service/c"].map((identity) => status(identity));
  const table = resourceTable(resourceRows(known({ seen: [...seen, status("service/x%", { state: "failed" })] })));
  const listed = (query: Partial<ResourceQuery>) => {
    const { resources, ...counts } = table({ ...everything, ...query });
    return { ...counts, resources: resources.map(({ identity }) => identity) };
  };
  expect(listed({ identity: "service/x%" }).resources).toEqual(["service/x%"]);
  expect(listed({ identity: "service/x" }).resources).toEqual([]);
  expect(listed({ limit: 1 })).toEqual({
    ...{ total: 4, matching: 4, offset: 0, needsAttention: 1 },
    ...{ states: { failed: 1, unchanged: 3 }, kinds: { service: 2, team: 2 }, resources: ["service/x%"] },
  });
  expect(listed({ kind: ["team"], search: "b" })).toMatchObject({ total: 4, matching: 1, resources: ["team/B"] });
  expect(listed({ search: "%" }).resources).toEqual(["service/x%"]);
  expect(listed({ state: ["failed", "blocked"] }).resources).toEqual(["service/x%"]);
  expect(listed({ attention: true }).resources).toEqual(["service/x%"]);
  expect(listed({ sort: "-identity", offset: 1, limit: 2 }).resources).toEqual(["team/B", "service/x%"]);
  expect(listed({ offset: 9 })).toMatchObject({ matching: 4, offset: 9, resources: [] });
});

test("the parts of 100,000 resources are found quickly", () => {
  const recorded = Array.from({ length: 100_000 }, (_, nth) => `service/c:w${nth % 50}/s${nth}`);
  const table = resourceTable(resourceRows(known({ recorded })));
  const before = process.cpuUsage();
  for (let offset = 0; offset < 100_000; offset += 500) table({ ...everything, search: "w7/", offset, limit: 100 });
  const { user } = process.cpuUsage(before);
  expect(user / 1000).toBeLessThan(2000);
});
