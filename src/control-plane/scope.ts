import type { Target } from "./access.ts";

const withinWorkspace = /^(?:[\w-]+\/)?([^:/]+:[^:/]+)(?::[^:/]+)?$/;
const repository = /^ml-repo(?::[^/]+)?\/([^/]+)$/;
const cluster = /^(?:cluster\/)?([^:/]+)$/;

/**
 * What a scope names, by its fqn (`c1:ws1`) or by its identity (`workspace/c1:ws1`); what lies in a workspace is the
 * workspace's, and any other text is the tenant's.
 */
export function scopeTarget(scope: string, tenant: string): Target {
  const [, repo] = repository.exec(scope) ?? [];
  if (repo !== undefined) return { type: "ml-repo", name: repo };
  const [, workspace] = withinWorkspace.exec(scope) ?? [];
  if (workspace !== undefined) return { type: "workspace", fqn: workspace };
  const [, fqn] = cluster.exec(scope) ?? [];
  return fqn === undefined || fqn === tenant ? { type: "tenant" } : { type: "cluster", fqn };
}
