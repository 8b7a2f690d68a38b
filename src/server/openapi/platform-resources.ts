import type { JsonObject } from "../../contract/json.ts";
import type { Cluster, SecretGroup, SecretResource, SecretVersion, Workspace } from "../../contract/resources.ts";
import { accountId, camelOwner, stamps, tenantName } from "./common-resources.ts";
import { boolean, free, id, idOrRehearsed, integer, list, named, nullable, object, text } from "./form.ts";

/** A workspace. */
export const workspace = object<Workspace>("A part of a cluster in which applications run", {
  id: idOrRehearsed(id("workspace")),
  fqn: text("cluster:workspace", "prod-eu:ranking"),
  name: text("Name, unique in the cluster", "ranking"),
  tenantName,
  clusterId: text("Id of the cluster", "prod-eu"),
  environmentId: nullable(text("Environment that it belongs to", "production")),
  accountId,
  isSystemWs: boolean("Whether the platform itself runs there", false),
  manifest: named<JsonObject>("WorkspaceManifest", "What was declared, defaults included"),
  ...camelOwner,
  ...stamps,
});

/** A cluster. */
export const cluster = object<Cluster>("A cluster; its id, fqn and name are the same text", {
  id: idOrRehearsed(text("Id of the cluster", "prod-eu")),
  fqn: text("The name again", "prod-eu"),
  name: text("Name, unique in the tenant", "prod-eu"),
  tenantName,
  accountId,
  manifest: named<JsonObject>("ClusterManifest", "What was declared, defaults included"),
  ...camelOwner,
  ...stamps,
});

/** A version of a secret. */
export const secretVersion = object<SecretVersion>("One value that a secret had", {
  id: id("version"),
  fqn: text("tenant:group:key:version", "holdfast:platform:db-password:1"),
  value: text("The value; only where a single secret is read", "correct horse battery staple"),
  secretId: id("secret"),
  version: integer("Number of the version; a new secret has 1", 1, { minimum: 1 }),
  secret: nullable(free("The secret in short", {})),
  ...stamps,
});

/** A secret. */
export const secret = object<SecretResource>("A secret in a group", {
  id: id("secret"),
  fqn: text("tenant:group:key", "holdfast:platform:db-password"),
  name: text("Key, unique in the group", "db-password"),
  secretGroupId: id("group"),
  value: text("The value; only where a single secret is read", "correct horse battery staple"),
  secretVersions: list("Its versions", named<SecretVersion>("SecretVersion", "One version")),
  activeDeploymentsCount: integer("Deployments that serve and use it", 1, { minimum: 0 }),
  ...camelOwner,
  ...stamps,
});

/** A group of secrets. */
export const secretGroup = object<SecretGroup>("A group of secrets", {
  id: id("group"),
  fqn: text("tenant:group", "holdfast:platform"),
  name: text("Name, unique in the tenant", "platform"),
  tenantName,
  integrationId: text("Store that keeps the values", "builtin"),
  associatedSecrets: list("Its secrets, without their values", named<SecretResource>("Secret", "One secret")),
  manifest: free("What was declared, without the values", { type: "secret-group", name: "platform" }),
  ...camelOwner,
  ...stamps,
});
