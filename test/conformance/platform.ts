import type { Caller } from "../control-plane.ts";

/** A cluster manifest. */
export const cluster = { type: "cluster", name: "c1x", cluster_type: "aws-eks", base_domains: ["*.apps.example.com"] };

/** A workspace manifest on that cluster. */
export const workspace = { type: "workspace", name: "ws1", cluster_fqn: "c1x" };

/** A virtual account with all rights. */
export const account = {
  type: "virtual-account",
  name: "ci",
  permissions: [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-admin" }],
};

/** A service manifest in that workspace. */
export const service = {
  type: "service",
  name: "api",
  workspace_fqn: "c1x:ws1",
  image: { type: "image", image_uri: "registry.example.com/api:1" },
};

/** Writes the cluster and the workspace; answers the workspace. */
export async function plantWorkspace(admin: Caller): Promise<{ readonly id: string; readonly fqn: string }> {
  await admin.put("/api/svc/v1/clusters", { manifest: cluster });
  return (await admin.put("/api/svc/v1/workspaces", { manifest: workspace })).body.data;
}
