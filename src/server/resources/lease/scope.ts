import { type AccessTarget, tenantTarget } from "../../auth/access.ts";
import { tenant } from "../../auth/principal.ts";

/**
 * The path of a scope in the tree of scopes: `[]` is the root, `["c1"]` a cluster, `["c1", "ws1"]` a workspace. An ml
 * repo, and any other text, is directly below the root.
 */
export type ScopePath = readonly string[];

/** The scope of the whole tenant. */
export const rootScope: ScopePath = [];

const withinWorkspace = /^(?:[\w-]+\/)?([^:/]+:[^:/]+)(?:[:/][^:/]+)?$/;
const repository = /^ml-repo(?::[^/]+)?\/([^/]+)$/;
const cluster = /^(?:cluster\/)?([^:/]+)$/;

/**
 * The resource that access to a scope is decided on, by its fqn (`c1:ws1`) or identity (`workspace/c1:ws1`): for a
 * resource in a workspace the workspace, for any other text the tenant.
 */
export function scopeTarget(scope: string): AccessTarget {
  const [, repo] = repository.exec(scope) ?? [];
  if (repo !== undefined) return { type: "ml-repo", fqn: repo };
  const [, workspace] = withinWorkspace.exec(scope) ?? [];
  if (workspace !== undefined) return { type: "workspace", fqn: workspace };
  const [, fqn] = cluster.exec(scope) ?? [];
  return fqn === undefined || fqn === tenant ? tenantTarget : { type: "cluster", fqn };
}

/** The path of a scope in any spelling. */
export function scopePath(scope: string): ScopePath {
  const target = scopeTarget(scope);
  switch (target.type) {
    case "cluster":
    case "workspace":
      return target.fqn.split(":");
    case "ml-repo":
      return [`ml-repo:${tenant}/${target.fqn}`];
    default:
      return scope === "" || scope === tenant ? rootScope : [scope];
  }
}

/** The canonical name of a scope. */
export function scopeName(path: ScopePath): string {
  return path.length === 0 ? tenant : path.join(":");
}

/** The names of a scope and of all scopes above it. */
export function coveringScopes(path: ScopePath): readonly string[] {
  return [rootScope, ...path.map((_, at) => path.slice(0, at + 1))].map(scopeName);
}

/** Whether two scopes are the same, or one contains the other. */
export function overlaps(one: ScopePath, other: ScopePath): boolean {
  return one.every((step, at) => at >= other.length || step === other[at]);
}
