import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/contract/json.ts";
import { renameBetween, renameFqns } from "../../../src/model/rename-fqns.ts";

const rename = { clusters: { c1: "c2" }, workspaces: { "c1:dev": "c9:prod" } };

test.each<[JsonObject, JsonObject]>([
  [
    { type: "cluster", name: "c1" },
    { type: "cluster", name: "c2" },
  ],
  [
    { type: "workspace", name: "ws", cluster_fqn: "c1" },
    { type: "workspace", name: "ws", cluster_fqn: "c2" },
  ],
  [
    { type: "workspace", name: "dev", cluster_fqn: "c1" },
    { type: "workspace", name: "prod", cluster_fqn: "c9" },
  ],
  [
    { type: "service", name: "c1", workspace_fqn: "c1:ws" },
    { type: "service", name: "c1", workspace_fqn: "c2:ws" },
  ],
  [
    { type: "service", name: "api", workspace_fqn: "c1:dev" },
    { type: "service", name: "api", workspace_fqn: "c9:prod" },
  ],
  [
    { type: "service", name: "api", mounts: [{ type: "volume", volume_fqn: "tfy-volume://c1:dev:data" }] },
    { type: "service", name: "api", mounts: [{ type: "volume", volume_fqn: "tfy-volume://c9:prod:data" }] },
  ],
  [
    {
      type: "virtual-account",
      name: "ci",
      permissions: [
        { resource_type: "workspace", resource_fqn: "c1:dev", role_id: "workspace-admin" },
        { resource_type: "cluster", resource_fqn: "c1", role_id: "cluster-member" },
        { resource_type: "ml-repo", resource_fqn: "c1", role_id: "ml-repo-admin" },
      ],
    },
    {
      type: "virtual-account",
      name: "ci",
      permissions: [
        { resource_type: "workspace", resource_fqn: "c9:prod", role_id: "workspace-admin" },
        { resource_type: "cluster", resource_fqn: "c2", role_id: "cluster-member" },
        { resource_type: "ml-repo", resource_fqn: "c1", role_id: "ml-repo-admin" },
      ],
    },
  ],
  [
    { type: "service", name: "api", workspace_fqn: "c2:dev" },
    { type: "service", name: "api", workspace_fqn: "c2:dev" },
  ],
])("of %j a rename makes %j", (manifest, renamed) => {
  expect(renameFqns(manifest, rename).value).toEqual(renamed);
});

test("a rename says which of its entries it has used", () => {
  const entriesOf = (manifest: JsonObject) => renameFqns(manifest, rename).entries;
  expect(entriesOf({ type: "service", name: "a", workspace_fqn: "c1:dev" })).toEqual(["workspaces: c1:dev"]);
  expect(entriesOf({ type: "service", name: "a", workspace_fqn: "c1:ws" })).toEqual(["clusters: c1"]);
  expect(entriesOf({ type: "service", name: "a", workspace_fqn: "c3:ws" })).toEqual([]);
});

test("between two targets, a name stands for what both have renamed, and one that stands for several for none", () => {
  const from = { clusters: { dev: "stg", old: "stg2" }, workspaces: { "dev:a": "stg:b" } };
  const to = { clusters: { dev: "live" }, workspaces: { "dev:c": "other:c" } };
  const between = renameBetween(from, to);
  expect(between).toEqual({
    clusters: { stg: "live", stg2: "old" },
    workspaces: { "stg:b": "live:a", "stg:c": "other:c" },
  });
  const service = { type: "service", name: "api", workspace_fqn: "stg:c" };
  expect(renameFqns(service, between).value).toEqual({ ...service, workspace_fqn: "other:c" });
  expect(renameBetween({ clusters: { a: "x", b: "x" } }, { clusters: { a: "y" } })).toEqual({
    clusters: {},
    workspaces: {},
  });
});
