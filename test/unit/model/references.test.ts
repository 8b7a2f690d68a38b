import { expect, test } from "vitest";
import { referencesOf } from "../../../src/model/references.ts";

test("everything that a manifest names is found, with its place", () => {
  const found = referencesOf(
    {
      cluster_fqn: "c1",
      workspace_fqn: "c1:ws1",
      ml_repo: "r1",
      ownedBy: { account: "a", team: "ml" },
      collaborators: [
        { subject: "user:a@x.io", role_id: "workspace-admin" },
        { subject: "team:ops", role_id: "workspace-admin" },
        { subject: "virtualaccount:ci", role_id: "workspace-viewer" },
      ],
      permissions: [
        { resource_type: "workspace", resource_fqn: "c1:ws2", role_id: "workspace-viewer" },
        { resource_type: "ml-repo", resource_fqn: "ml-repo:holdfast/r2", role_id: "ml-repo-viewer" },
        { resource_type: "elsewhere", resource_fqn: "x", role_id: "y" },
      ],
      mounts: [{ type: "string" }, { type: "secret", secret_fqn: "holdfast:g:k" }],
      env: { "A/B": "postgres://u:acme-secret://holdfast:g:pw@db", C: 1 },
      values: { deep: ["secret://holdfast:g:v"] },
      volume_browser: { username: "u", password_secret_fqn: "holdfast:g:b" },
    },
    "holdfast",
  );
  expect(found.map(({ kind, key, pointer }) => `${pointer} ${kind} ${key}`)).toEqual([
    "/cluster_fqn cluster c1",
    "/workspace_fqn workspace c1:ws1",
    "/ml_repo ml-repo r1",
    "/ownedBy/team team ml",
    "/collaborators/1/subject team ops",
    "/collaborators/2/subject virtual-account ci",
    "/permissions/0/resource_fqn workspace c1:ws2",
    "/permissions/1/resource_fqn ml-repo r2",
    "/mounts/1/secret_fqn secret holdfast:g:k",
    "/env/A~1B secret holdfast:g:pw",
    "/values/deep/0 secret holdfast:g:v",
    "/volume_browser/password_secret_fqn secret holdfast:g:b",
  ]);
});

test("a manifest with other things in these places names nothing", () => {
  expect(
    referencesOf(
      { collaborators: "x", permissions: [1], mounts: {}, env: null, ownedBy: [], cluster_fqn: 1 },
      "holdfast",
    ),
  ).toEqual([]);
});
