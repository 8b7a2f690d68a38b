import type { JsonObject } from "../../contract/json.ts";

/** An application with its newest deployment and, where that is another, its active one. */
export type SeenApplication = { readonly application: JsonObject; readonly deployments: readonly JsonObject[] };

/** What was read of another control plane, row by row as it answered. */
export type Snapshot = {
  readonly clusters: readonly JsonObject[];
  readonly workspaces: readonly JsonObject[];
  readonly teams: readonly JsonObject[];
  readonly virtualAccounts: readonly JsonObject[];
  readonly mlRepos: readonly JsonObject[];
  readonly modelVersions: readonly JsonObject[];
  readonly promptVersions: readonly JsonObject[];
  readonly secretGroups: readonly JsonObject[];
  readonly applications: readonly SeenApplication[];
};
