import { expect, test } from "vitest";
import {
  type AccessAction,
  type AccessTarget,
  dryRunPrincipal,
  fqnsWithRole,
  isAllowed,
  isTenantAdmin,
  mayGrant,
} from "../../../src/server/auth/access.ts";
import type { Principal, Role } from "../../../src/server/auth/principal.ts";
import { visibleWorkspaces } from "../../../src/server/resources/workspace.ts";

const cluster: AccessTarget = { type: "cluster", fqn: "c1" };
const workspace: AccessTarget = { type: "workspace", fqn: "c1:ws1" };
const repo: AccessTarget = { type: "ml-repo", fqn: "r1" };
const group: AccessTarget = { type: "secret-group", fqn: "holdfast:db" };

function holding(resourceType: string, resourceFqn: string, roleId: string, slug = "dev@x.io"): Principal {
  return {
    name: `user:${slug}`,
    subject: { subjectId: slug, subjectType: "user", subjectSlug: slug, subjectDisplayName: slug },
    roles: [{ resourceType, resourceFqn, roleId }],
  };
}

const nobody: Principal = { ...holding("tenant", "holdfast", "tenant-member"), name: "user:nobody" };

const all: readonly AccessAction[] = ["read", "write", "admin"];
const allowed = (principal: Principal, target: AccessTarget) =>
  all.filter((action) => isAllowed(principal, action, target));

test.each<[string, string, string, readonly AccessAction[], readonly AccessAction[], readonly AccessAction[]]>([
  // role on, resource, role → on the cluster, on the workspace, on the repo
  ["tenant", "holdfast", "tenant-admin", all, all, all],
  ["tenant", "holdfast", "tenant-viewer", ["read"], ["read"], ["read"]],
  ["tenant", "holdfast", "tenant-member", [], [], []],
  ["tenant", "other", "tenant-viewer", [], [], []],
  ["tenant", "other", "tenant-admin", [], [], []],
  ["cluster", "c1", "cluster-admin", all, all, []],
  ["cluster", "c1", "cluster-member", ["read"], ["read"], []],
  ["cluster", "c1", "cluster-viewer", ["read"], [], []],
  ["cluster", "c", "cluster-admin", [], [], []],
  ["cluster", "c1:ws1", "cluster-admin", [], [], []],
  ["workspace", "c1:ws1", "workspace-admin", [], all, []],
  ["workspace", "c1:ws1", "workspace-editor", [], ["read", "write"], []],
  ["workspace", "c1:ws1", "workspace-member", [], ["read", "write"], []],
  ["workspace", "c1:ws1", "workspace-viewer", [], ["read"], []],
  ["workspace", "c1:ws2", "workspace-admin", [], [], []],
  ["workspace", "c1", "workspace-admin", [], [], []],
  ["workspace", "c1:ws1", "cluster-admin", [], [], []],
  ["workspace", "c1:ws1", "tenant-admin", [], [], []],
  ["workspace", "c1:ws1", "my-own-role", [], [], []],
  ["workspace", "c1:ws1", "constructor", [], [], []],
  ["ml-repo", "r1", "ml-repo-admin", [], [], all],
  ["ml-repo", "ml-repo:holdfast/r1", "ml-repo-editor", [], [], ["read", "write"]],
  ["ml-repo", "ml-repo:other/r1", "ml-repo-editor", [], [], []],
  ["ml-repo", "r1", "ml-repo-viewer", [], [], ["read"]],
  ["__proto__", "c1", "cluster-admin", [], [], []],
])("%s %s %s", (type, fqn, role, onCluster, onWorkspace, onRepo) => {
  const principal = holding(type, fqn, role);
  expect(allowed(principal, cluster)).toEqual(onCluster);
  expect(allowed(principal, workspace)).toEqual(onWorkspace);
  expect(allowed(principal, repo)).toEqual(onRepo);
});

test("S48 a secret group may be used by everyone with that role on it", () => {
  const user = holding("secret-group", "holdfast:db", "secret-group-user");
  expect(allowed(user, group)).toEqual(["read", "write"]);
  expect(allowed(holding("tenant", "holdfast", "tenant-viewer"), group)).toEqual(["read"]);
  expect(allowed(user, { ...group, fqn: "holdfast:d" })).toEqual([]);
  expect(allowed(holding("secret-group", "db", "secret-group-user"), group)).toEqual([]);
  expect(allowed(holding("secret-group", "holdfast:db", "my-own-role"), group)).toEqual([]);
  expect(allowed(holding("tenant", "holdfast", "tenant-admin"), group)).toEqual(all);
  expect(
    mayGrant(user, { resourceType: "secret-group", resourceFqn: "holdfast:db", roleId: "secret-group-user" }),
  ).toBe(true);
  expect(
    mayGrant(nobody, { resourceType: "secret-group", resourceFqn: "holdfast:db", roleId: "secret-group-user" }),
  ).toBe(false);
});

const on = (resourceType: string, resourceFqn: string, roleId: string): Role => ({ resourceType, resourceFqn, roleId });

test.each<[Principal, Role, boolean]>([
  [holding("tenant", "holdfast", "tenant-admin"), on("workspace", "c1:ws1", "my-own-role"), true],
  [holding("workspace", "c1:ws1", "workspace-admin"), on("workspace", "c1:ws1", "workspace-admin"), true],
  [holding("workspace", "c1:ws1", "workspace-admin"), on("workspace", "c1:ws1", "workspace-viewer"), true],
  [holding("workspace", "c1:ws1", "workspace-admin"), on("workspace", "c1:ws1", "my-own-role"), false],
  [holding("workspace", "c1:ws1", "workspace-admin"), on("workspace", "c1:ws2", "workspace-viewer"), false],
  [holding("workspace", "c1:ws1", "workspace-admin"), on("cluster", "c1", "cluster-viewer"), false],
  [holding("workspace", "c1:ws1", "workspace-admin"), on("tenant", "holdfast", "tenant-admin"), false],
  [holding("workspace", "c1:ws1", "workspace-admin"), on("tenant", "holdfast", "tenant-member"), false],
  [holding("workspace", "c1:ws1", "workspace-editor"), on("workspace", "c1:ws1", "workspace-admin"), false],
  [holding("tenant", "holdfast", "tenant-viewer"), on("workspace", "c1:ws1", "workspace-viewer"), true],
  [holding("tenant", "holdfast", "tenant-viewer"), on("secret-group", "holdfast:db", "secret-group-user"), false],
  [holding("tenant", "holdfast", "tenant-viewer"), on("tenant", "holdfast", "tenant-viewer"), false],
  [holding("cluster", "c1", "cluster-admin"), on("workspace", "c1:ws1", "workspace-admin"), true],
  [holding("cluster", "c1", "cluster-viewer"), on("cluster", "c1", "cluster-member"), false],
  [holding("cluster", "c1", "cluster-member"), on("cluster", "c1", "cluster-viewer"), true],
  [holding("ml-repo", "r1", "ml-repo-admin"), on("ml-repo", "ml-repo:holdfast/r1", "ml-repo-editor"), true],
])("%o may grant %o: %s", (principal, role, expected) => {
  expect(mayGrant(principal, role)).toBe(expected);
});

test("S65 a dry run by whoever reads the tenant is decided as an administrator's, in their own name", () => {
  const viewer = holding("tenant", "holdfast", "tenant-viewer");
  expect(isTenantAdmin(viewer)).toBe(false);
  expect(isTenantAdmin(dryRunPrincipal(viewer))).toBe(true);
  expect(dryRunPrincipal(viewer).subject).toBe(viewer.subject);
  const editor = holding("workspace", "c1:ws1", "workspace-editor");
  expect(dryRunPrincipal(editor)).toBe(editor);
});

test("what can be seen is what roles name", () => {
  expect(visibleWorkspaces(holding("tenant", "holdfast", "tenant-admin"))).toBeNull();
  expect(fqnsWithRole(holding("cluster", "c1", "cluster-viewer"), "cluster", "here")).toEqual(["c1"]);
  expect(visibleWorkspaces(holding("cluster", "c1", "cluster-viewer"))).toEqual({ fqns: [], clusters: [] });
  expect(visibleWorkspaces(holding("cluster", "c1", "cluster-member"))).toEqual({ fqns: [], clusters: ["c1"] });
  expect(visibleWorkspaces(holding("workspace", "c1:ws1", "my-own-role"))).toEqual({ fqns: [], clusters: [] });
});
