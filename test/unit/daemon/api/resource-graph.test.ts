import { expect, test } from "vitest";
import type { PassRecord, ResourceStatus } from "../../../../src/core/report/target-status.ts";
import { type GraphQuery, type KnownReferences, resourceGraph } from "../../../../src/daemon/api/resource-graph.ts";
import { resourceRows, resourceTable } from "../../../../src/daemon/api/resource-table.ts";
import { machineName } from "../../../../src/daemon/pass-queue.ts";
import { newStatus } from "../../../../src/daemon/status-after-pass.ts";
import { referencesOf, serveTargets, storedTarget } from "../../dashboard/shown-daemon.ts";

const status = (identity: string, rest: Partial<ResourceStatus> = {}): ResourceStatus => ({
  ...{ identity, state: "unchanged", rollout: null, hasDrifted: false, why: null },
  ...rest,
});
const everything: GraphQuery = {
  ...{ state: [], kind: [], attention: false, search: null, around: null, depth: 2, limit: 200 },
};

type References = { readonly [identity: string]: readonly string[] };

const knownFrom = (list: References): KnownReferences => ({
  ...{ manifests: "last-pass", why: null },
  references: referencesOf(list),
});

function graphOf(seen: readonly ResourceStatus[], list: References, query: Partial<GraphQuery> = {}) {
  const table = resourceTable(resourceRows({ unsettled: [], seen, isSeenAlone: true, recorded: [] }));
  return resourceGraph(table, knownFrom(list), { ...everything, ...query });
}

const names = ({ nodes }: ReturnType<typeof graphOf>): readonly string[] => nodes.map(({ identity }) => identity);
const edges = (graph: ReturnType<typeof graphOf>): readonly string[] =>
  graph.edges.map(({ from, to }) => `${from} → ${to}`);

/** Two services in each of two workspaces of one cluster. */
const platform: References = {
  "cluster/c": [],
  "workspace/c:a": ["cluster/c"],
  "workspace/c:b": ["cluster/c"],
  "service/c:a/1": ["workspace/c:a"],
  "service/c:a/2": ["workspace/c:a"],
  "service/c:b/3": ["workspace/c:b", "service/c:a/1", "team/nobody-declares"],
  "service/c:b/4": ["workspace/c:b"],
};
const all = Object.keys(platform).map((identity) => status(identity));

test("the graph has every resource with its state, and the references between them", () => {
  const seen = all.map((one) =>
    one.identity === "service/c:b/3" ? status(one.identity, { state: "failed", hasDrifted: true }) : one,
  );
  const graph = graphOf(seen, platform);
  expect(graph).toMatchObject({
    references: { manifests: "last-pass", commit: "c0ffee", why: null },
    ...{ total: 7, matching: 7, needsAttention: 1, leftOut: 0, referencesLeftOut: 0 },
    states: { failed: 1, unchanged: 6 },
  });
  // What needs attention, what it refers to, what refers to it, and the others.
  expect(names(graph)).toEqual([
    ...["service/c:b/3", "workspace/c:b", "service/c:a/1", "team/nobody-declares"],
    ...["cluster/c", "workspace/c:a", "service/c:a/2", "service/c:b/4"],
  ]);
  expect(edges(graph).toSorted()).toEqual(
    Object.entries(platform)
      .flatMap(([from, targets]) => targets.map((to) => `${from} → ${to}`))
      .toSorted(),
  );
  expect(graph.nodes[0]).toEqual({
    ...{ identity: "service/c:b/3", kind: "service", state: "failed", rollout: null, hasDrifted: true },
    ...{ needsAttention: true, isDeclared: true, isMatch: true, hidden: 0 },
  });
  expect(graph.nodes[3]).toMatchObject({ kind: "team", state: null, isDeclared: false, isMatch: true });
  // Where there is no space for all of them, what refers to the one that needs attention comes before the others.
  const cluster = all.map(({ identity }) => status(identity, identity === "cluster/c" ? { state: "failed" } : {}));
  expect(names(graphOf(cluster, platform, { limit: 3 }))).toEqual(["cluster/c", "workspace/c:a", "workspace/c:b"]);
});

test("filters choose resources, and what these refer to connects them", () => {
  const graph = graphOf(all, platform, { search: "c:b/" });
  expect([graph.matching, graph.leftOut, graph.total]).toEqual([2, 0, 7]);
  expect(graph.nodes.map(({ identity, isMatch, hidden }) => [identity, isMatch, hidden])).toEqual([
    ["service/c:b/3", true, 0],
    ["workspace/c:b", false, 1],
    ["service/c:a/1", false, 1],
    ["team/nobody-declares", false, 0],
    ["service/c:b/4", true, 0],
  ]);
  expect(graphOf(all, platform, { search: "nothing like it" })).toMatchObject({ matching: 0, nodes: [], edges: [] });
});

test("around a resource is what it needs and what needs it, as far as it is asked for, and nothing beside", () => {
  expect(names(graphOf(all, platform, { around: "workspace/c:a", depth: 1 }))).toEqual([
    ...["workspace/c:a", "cluster/c", "service/c:a/1", "service/c:a/2"],
  ]);
  const far = graphOf(all, platform, { around: "service/c:a/1", depth: 5 });
  expect(names(far)).toEqual(["service/c:a/1", "workspace/c:a", "service/c:b/3", "cluster/c"]);
  expect(far.nodes.map(({ hidden }) => hidden)).toEqual([0, 1, 2, 1]);
  // What no list has is in it too, and with a filter what leads to those that match.
  expect(names(graphOf(all, platform, { around: "team/nobody-declares" }))).toEqual([
    ...["team/nobody-declares", "service/c:b/3"],
  ]);
  const clusters = graphOf(all, platform, { around: "service/c:b/3", kind: ["cluster"] });
  expect(clusters.nodes.map(({ identity, isMatch }) => [identity, isMatch])).toEqual([
    ["service/c:b/3", false],
    ["workspace/c:b", false],
    ["cluster/c", true],
  ]);
  expect([clusters.matching, clusters.leftOut]).toEqual([1, 0]);
  expect(graphOf(all, platform, { around: "team/other" })).toMatchObject({
    nodes: [{ identity: "team/other", state: null, isDeclared: false }],
  });
});

test("cycles, references to itself, two declarations of one name and places of invalid manifests are shown as they are", () => {
  const invalid = { state: "invalid", why: "a cycle of references" } as const;
  const seen = [
    status("team/a", invalid),
    status("team/b", invalid),
    status("team/a"),
    status("teams/x.yaml:3", invalid),
  ];
  const graph = graphOf(seen, { "team/a": ["team/b", "team/a"], "team/b": ["team/a"] });
  expect(graph.nodes.map(({ identity, kind, state, hidden }) => [identity, kind, state, hidden])).toEqual([
    ["team/a", "team", "invalid", 0],
    ["team/b", "team", "invalid", 0],
    ["teams/x.yaml:3", "", "invalid", 0],
  ]);
  expect(edges(graph)).toEqual(["team/a → team/b", "team/a → team/a", "team/b → team/a"]);
});

test("as many are shown as are asked for, those that need attention first, and the reply says how many are left out", () => {
  const services = Array.from({ length: 100 }, (_, nth) => `service/c:a/${String(nth).padStart(3, "0")}`);
  const list = { "cluster/c": [], "workspace/c:a": ["cluster/c"] } as const;
  const many = { ...list, ...Object.fromEntries(services.map((one) => [one, ["workspace/c:a"]])) };
  const seen = Object.keys(many).map((identity) =>
    status(identity, identity === "service/c:a/077" ? { state: "failed" } : {}),
  );
  const graph = graphOf(seen, many, { limit: 5 });
  expect(names(graph)).toEqual([
    ...["service/c:a/077", "workspace/c:a", "cluster/c", "service/c:a/000", "service/c:a/001"],
  ]);
  expect([graph.leftOut, graph.nodes[1]?.hidden]).toEqual([97, 97]);
  const around = graphOf(seen, many, { around: "cluster/c", limit: 5 });
  expect(names(around)).toEqual([
    ...["cluster/c", "workspace/c:a", "service/c:a/077", "service/c:a/000", "service/c:a/001"],
  ]);
  expect([around.matching, around.leftOut]).toEqual([102, 97]);
});

test("at most 2,000 references are in a reply, and it says how many are left out", () => {
  const teams = Array.from({ length: 50 }, (_, nth) => `team/${nth}`);
  const graph = graphOf(
    teams.map((identity) => status(identity)),
    Object.fromEntries(teams.map((identity) => [identity, teams])),
  );
  expect([graph.edges.length, graph.referencesLeftOut]).toEqual([2000, 500]);
  expect(graph.nodes.reduce((sum, { hidden }) => sum + hidden, 0)).toBe(1000);
});

test("where no manifests can be read, the resources are shown without references, and why", () => {
  const table = resourceTable(resourceRows({ unsettled: [], seen: all, isSeenAlone: true, recorded: [] }));
  const why = "the source is away";
  const graph = resourceGraph(table, { manifests: null, references: null, why }, everything);
  expect(graph).toMatchObject({ references: { manifests: null, commit: null, why }, matching: 7, edges: [] });
  expect(graph.nodes.map(({ isDeclared }) => isDeclared)).toEqual(all.map(() => null));
});

test("what this process remembers is told only where no other one has run the last pass", async () => {
  const lastPass: PassRecord = {
    ...{ startedAt: "2026-11-22T11:58:00.000Z", endedAt: "2026-11-22T11:58:04.000Z", commit: "c0ffee" },
    ...{ result: "applied", reason: null, message: null, counts: {} },
  };
  for (const [machine, references] of [
    [machineName, { manifests: "last-pass", commit: "c0ffee", why: null }],
    ["another", { manifests: "now", commit: "beef", why: null }],
  ] as const) {
    const status = { ...newStatus("prod", "platform"), lastPass: { ...lastPass, machine } };
    const known = referencesOf({ "team/ml": [] });
    const readReferences = async () => ({ ...known, commit: "beef" });
    const target = { ...(await storedTarget({ status })), lastReferences: () => known, readReferences };
    const { url } = await serveTargets([target]);
    expect(await (await fetch(`${url}/api/v1/targets/prod/graph?around=team/ml`)).json()).toMatchObject({ references });
  }
});

test("S12 the graph of 100,000 resources is made in a moment", () => {
  const services = Array.from({ length: 100_000 }, (_, nth) => `service/c:w${nth % 100}/${nth}`);
  const list = {
    "cluster/c": [],
    ...Object.fromEntries(Array.from({ length: 100 }, (_, nth) => [`workspace/c:w${nth}`, ["cluster/c"]])),
    ...Object.fromEntries(services.map((one, nth) => [one, [`workspace/c:w${nth % 100}`]])),
  };
  const known: KnownReferences = { manifests: "now", references: manyReferences(list), why: null };
  const seen = Object.keys(list).map((identity) => status(identity));
  const table = resourceTable(resourceRows({ unsettled: [], seen, isSeenAlone: true, recorded: [] }));
  for (const query of [{}, { around: "cluster/c" }, { around: "service/c:w7/7" }, { kind: ["workspace"] }]) {
    const began = performance.now();
    const { nodes } = resourceGraph(table, known, { ...everything, ...query, limit: 500 });
    expect([query, nodes.length > 1, performance.now() - began < 10_000]).toEqual([query, true, true]);
  }
});

function manyReferences(list: References) {
  const referrers = new Map<string, string[]>();
  for (const [from, targets] of Object.entries(list)) {
    for (const to of targets) {
      const known = referrers.get(to) ?? [];
      referrers.set(to, known);
      known.push(from);
    }
  }
  const known = new Map(Object.entries(list));
  return {
    commit: "c0ffee",
    of: (identity: string) => known.get(identity) ?? null,
    to: (identity: string) => referrers.get(identity) ?? [],
  };
}
