import { describe, expect, test } from "vitest";
import { exists, type Live, type LiveView } from "../../../src/core/live.ts";
import {
  hasOwnRoles,
  isShown,
  mayWrite,
  roleThatShows,
  type Sight,
  showsTenant,
  sightOf,
} from "../../../src/core/sight.ts";
import { kindsByType } from "../../../src/kinds/index.ts";
import { present, service } from "./given.ts";

const holding = (resourceType: string, resourceFqn: string, roleId: string): Sight => {
  return { tenant: "acme", roles: [{ resourceType, resourceFqn, roleId }] };
};
const viewer = holding("workspace", "c1:ws1", "workspace-viewer");
const clusterAdmin = holding("cluster", "c1", "cluster-admin");

test.each<[string, Sight, boolean]>([
  ["service/c1:ws1/api", viewer, true],
  ["workspace/c1:ws1", viewer, true],
  ["service/c1:ws2/api", viewer, false],
  ["cluster/c1", viewer, false],
  ["service/c1:ws2/api", clusterAdmin, true],
  ["service/c2:ws1/api", clusterAdmin, false],
  ["team/ml", clusterAdmin, false],
  ["team/ml", holding("tenant", "acme", "tenant-viewer"), true],
  ["team/ml", holding("tenant", "acme", "tenant-member"), false],
  // Those who use a group do not see it.
  ["secret-group/db", holding("secret-group", "db", "secret-group-user"), false],
  ["service/c1:ws1/api", null, false],
  ["nothing/x", clusterAdmin, false],
])("%s is shown to %j: %s", (identity, sight, is) => {
  expect(isShown(sight, identity, kindsByType)).toBe(is);
});

describe("the role that shows", () => {
  const workspace = present({ type: "workspace", name: "ws1", cluster_fqn: "c1" });
  const shows = (identity: string, live: { readonly [identity: string]: Live }, sight: Sight = viewer) =>
    roleThatShows({ live: new Map(Object.entries(live)), inSync: new Map(), sight, kinds: kindsByType }, identity);

  test.each<[string, { readonly [identity: string]: Live }, string]>([
    ["service/c1:ws1/api", {}, "workspace-viewer on workspace c1:ws1"],
    // In a workspace that is visible, only a dry run shows it.
    ["service/c1:ws1/api", { "workspace/c1:ws1": workspace }, "workspace-editor on workspace c1:ws1"],
    ["workspace/c1:ws1", { "workspace/c1:ws1": workspace }, "workspace-viewer on workspace c1:ws1"],
    ["chat_prompt/r/p", {}, "ml-repo-viewer on ml-repo r"],
    ["team/ml", {}, "tenant-viewer on tenant acme"],
    ["secret-group/db", {}, "tenant-viewer on tenant acme"],
  ])("%s beside %j is %s", (identity, live, role) => {
    expect(shows(identity, live)).toBe(role);
  });

  test("a team is on a tenant that is not known without the roles", () => {
    expect(shows("team/ml", {}, null)).toBe("tenant-viewer on the tenant");
  });
});

test.each<[string, Sight, boolean]>([
  ["service/c1:ws1/api", viewer, false],
  ["service/c1:ws1/api", holding("workspace", "c1:ws1", "workspace-editor"), true],
  ["workspace/c1:ws1", holding("workspace", "c1:ws1", "workspace-editor"), false],
  ["workspace/c1:ws1", holding("workspace", "c1:ws1", "workspace-admin"), true],
  ["team/ml", clusterAdmin, false],
  ["team/ml", holding("tenant", "acme", "tenant-viewer"), false],
  ["team/ml", holding("tenant", "acme", "tenant-admin"), true],
  ["secret-group/db", holding("secret-group", "db", "secret-group-user"), false],
  // What a custom role allows is not known, nor what is allowed without told roles.
  ["team/ml", holding("cluster", "c1", "custom"), true],
  ["team/ml", null, true],
])("%s may be written with %j: %s", (identity, sight, may) => {
  expect(mayWrite(sight, identity, kindsByType)).toBe(may);
});

test("one of several roles is enough", () => {
  const several = (...all: readonly Sight[]): Sight => {
    return { tenant: "acme", roles: all.flatMap((one) => one?.roles ?? []) };
  };
  const member = holding("tenant", "acme", "tenant-member");
  const both = several(member, viewer, holding("tenant", "acme", "tenant-viewer"));
  expect([isShown(both, "service/c1:ws1/api", kindsByType), showsTenant(both)]).toEqual([true, true]);
  const editor = holding("workspace", "c1:ws1", "workspace-editor");
  expect(mayWrite(several(member, editor, viewer), "service/c1:ws1/api", kindsByType)).toBe(true);
  expect(mayWrite(several(member, holding("cluster", "c1", "custom")), "team/ml", kindsByType)).toBe(true);
  // A custom role on the tenant among others leaves open what they show.
  const roles = ["tenant-member", "custom"].map((role_id) => ({
    ...{ role_id, resource_type: "tenant", resource_fqn: "acme" },
  }));
  expect(sightOf({ tenant: "acme", subject: "user:ada", roles, more_roles: 0 })).toBeNull();
});

test("clusters, workspaces, repos and secret groups have roles of their own", () => {
  const identities = ["cluster/c1", "workspace/c1:ws1", "ml-repo/r", "secret-group/db", "service/c1:ws1/a", "team/ml"];
  expect(identities.map(hasOwnRoles)).toEqual([true, true, true, true, false, false]);
});

test("a resource is known to exist where live has it, or is known to be in sync", () => {
  const view: LiveView = {
    live: new Map<string, Live>([
      ["a", present(service())],
      ["b", { state: "absent" }],
      ["c", { state: "unknown", reason: "no-read", exists: true }],
    ]),
    inSync: new Map([
      ["d", "live"],
      ["e", "ledger"],
    ]),
  };
  expect(["a", "b", "c", "d", "e", "f"].filter((identity) => exists(view, identity))).toEqual(["a", "d"]);
});
