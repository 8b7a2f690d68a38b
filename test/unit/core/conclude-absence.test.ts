import { expect, test } from "vitest";
import { concludeAbsence } from "../../../src/core/conclude-absence.ts";
import type { DryRunReply } from "../../../src/core/decide/decision.ts";
import type { Live } from "../../../src/core/live.ts";
import { type Sight, sightOf } from "../../../src/core/sight.ts";
import { kindsByType } from "../../../src/kinds/index.ts";
import { present } from "./given.ts";

const absent: Live = { state: "absent" };
const unread: Live = { state: "unknown", reason: "no-read" };
const everything = [
  "cluster/c1",
  "workspace/c1:w1",
  "service/c1:w1/api",
  "ml-repo/r",
  "model-version/r/m",
  "chat_prompt/r/p@2",
  "team/ml",
  "virtual-account/ci",
];

/** What is concluded of resources that no list and no lookup shows. */
function concluded(
  sight: Sight,
  live: { readonly [identity: string]: Live } = Object.fromEntries(everything.map((one) => [one, absent])),
  {
    dryRuns = {},
    isProven = false,
  }: { readonly dryRuns?: { readonly [id: string]: DryRunReply }; isProven?: boolean } = {},
) {
  const context = { sight, kinds: kindsByType, dryRuns: new Map(Object.entries(dryRuns)), isProven };
  const found = concludeAbsence({ live: new Map(Object.entries(live)), inSync: new Map() }, context);
  return Object.fromEntries([...found].map(([id, one]) => [id, one.state === "unknown" ? one.reason : one.state]));
}

const absentOf = (found: { readonly [identity: string]: string }) =>
  Object.entries(found).flatMap(([identity, state]) => (state === "absent" ? [identity] : []));

const holding = (...roles: readonly (readonly [type: string, fqn: string, role: string])[]): Sight =>
  sightOf({
    tenant: "acme",
    subject: "user:a",
    more_roles: 0,
    roles: roles.map(([resource_type, resource_fqn, role_id]) => ({ resource_type, resource_fqn, role_id })),
  });

test.each<readonly [string, Sight, readonly string[]]>([
  ["tenant-admin", holding(["tenant", "acme", "tenant-admin"]), everything],
  ["tenant-viewer", holding(["tenant", "acme", "tenant-viewer"]), everything],
  ["tenant-viewer of another tenant", holding(["tenant", "other", "tenant-viewer"]), []],
  ["tenant-member", holding(["tenant", "acme", "tenant-member"]), []],
  ["no role", holding(), []],
  ["cluster-admin", holding(["cluster", "c1", "cluster-admin"]), everything.slice(0, 3)],
  // It shows neither whether the workspace is there nor what is in it; the cluster itself is absent, and all in it.
  ["cluster-viewer", holding(["cluster", "c1", "cluster-viewer"]), everything.slice(0, 3)],
  ["a role on another cluster", holding(["cluster", "c2", "cluster-admin"]), []],
  ["workspace-viewer", holding(["workspace", "c1:w1", "workspace-viewer"]), everything.slice(1, 3)],
  ["ml-repo-viewer", holding(["ml-repo", "ml-repo:acme/r", "ml-repo-viewer"]), everything.slice(3, 6)],
  ["a custom role on a workspace", holding(["workspace", "c1:w1", "mine"]), []],
])("S65 with %s, absence is concluded where the role shows the thing", (_, sight, shown) => {
  expect(absentOf(concluded(sight))).toEqual(shown);
});

test("S65 a role on a cluster does not show its workspaces", () => {
  const live = { "cluster/c1": present({ type: "cluster", name: "c1" }), "workspace/c1:w1": absent };
  expect(concluded(holding(["cluster", "c1", "cluster-viewer"]), live)["workspace/c1:w1"]).toBe("not-visible");
});

test("S65 without told roles, what lies in something visible is absent, and no workspace or repo ever", () => {
  const workspace = present({ type: "workspace", name: "w1", cluster_fqn: "c1" });
  const seen = { "workspace/c1:w1": workspace, "service/c1:w1/api": absent, "service/c1:w2/api": absent };
  expect(concluded(null, { ...seen, "workspace/c1:w2": absent })).toEqual({
    "workspace/c1:w1": "present",
    "service/c1:w1/api": "absent",
    "workspace/c1:w2": "not-visible",
    "service/c1:w2/api": "not-visible",
  });
  expect(concluded(null, { "nothing/x": absent })).toEqual({ "nothing/x": "not-visible" });
  expect(concluded(null)).toMatchObject({ "ml-repo/r": "not-visible", "model-version/r/m": "not-visible" });
  // What a refused dry run left open is no more known than the workspace that it lies in.
  expect(concluded(null, { "workspace/c1:w1": absent, "service/c1:w1/api": unread })["service/c1:w1/api"]).toBe(
    "not-visible",
  );
});

test("S65 without told roles, a cluster, a team and an account are absent where a proven dry run would create them", () => {
  const live = { "cluster/c1": absent, "team/ml": unread, "virtual-account/ci": absent, "ml-repo/r": absent };
  const row = { key: "x", manifest: {}, stamp: null };
  const creates: DryRunReply = { state: "answered", row: { ...row, id: null } };
  const all = Object.fromEntries(Object.keys(live).map((identity) => [identity, creates]));
  expect(concluded(null, live, { dryRuns: all, isProven: true })).toEqual({
    "cluster/c1": "absent",
    "team/ml": "absent",
    "virtual-account/ci": "absent",
    "ml-repo/r": "not-visible",
  });
  const open = { "cluster/c1": "no-read", "team/ml": "no-read", "virtual-account/ci": "no-read" };
  expect(concluded(null, live, { dryRuns: all })).toMatchObject(open);
  expect(concluded(null, live, { isProven: true })).toMatchObject(open);
  const exists: DryRunReply = { state: "answered", row: { ...row, id: "1" } };
  expect(concluded(null, { "team/ml": unread }, { dryRuns: { "team/ml": exists }, isProven: true })).toEqual({
    "team/ml": "no-read",
  });
});

test("S65 a custom role on the tenant leaves open what it shows", () => {
  expect(holding(["tenant", "acme", "everything-reader"])).toBeNull();
});

test("what was read, or is unknown for another reason, stays as it is, and so does the whole where nothing changes", () => {
  const workspace = present({ type: "workspace", name: "w1", cluster_fqn: "c1" });
  const refused: Live = { state: "unknown", reason: "refused" };
  const live = new Map<string, Live>([
    ["workspace/c1:w1", workspace],
    ["service/c1:w1/api", unread],
    ["service/c1:w2/api", refused],
    ["team/ml", unread],
  ]);
  const context = { sight: holding(), kinds: kindsByType, dryRuns: new Map(), isProven: false };
  expect(concludeAbsence({ live, inSync: new Map() }, context)).toBe(live);
});

test("what lies in something known to be in sync by live is absent, and in what only the ledger knows it is not", () => {
  const context = { sight: null, kinds: kindsByType, dryRuns: new Map(), isProven: false };
  const live = new Map<string, Live>([["service/c1:w1/api", absent]]);
  const within = (how: "live" | "ledger") =>
    concludeAbsence({ live, inSync: new Map([["workspace/c1:w1", how]]) }, context).get("service/c1:w1/api");
  expect([within("live"), within("ledger")]).toEqual([absent, { state: "unknown", reason: "not-visible" }]);
});

test("what lies in something absent is absent, even where it cannot be read", () => {
  const live = { "workspace/c1:w1": absent, "service/c1:w1/api": unread, "job/c1:w1/train": absent };
  expect(concluded(holding(["workspace", "c1:w1", "workspace-viewer"]), live)).toEqual({
    ...{ "workspace/c1:w1": "absent", "service/c1:w1/api": "absent", "job/c1:w1/train": "absent" },
  });
});
