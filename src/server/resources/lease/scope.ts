import { type AccessTarget, tenantTarget } from "../../auth/access.ts";
import { tenant } from "../../auth/principal.ts";

/**
 * Where a scope stands in the tree of scopes, from the top: `[]` is everything, `["c1"]` a cluster, `["c1", "ws1"]` a
 * workspace. An ml repo, and any text that names nothing known, stand right below everything.
 */
export type ScopePath = readonly string[];

/** The scope of everything. */
export const rootScope: ScopePath = [];

const withinWorkspace = /^(?:[\w-]+\/)?([^:/]+:[^:/]+)(?:[:/][^:/]+)?$/;
const repository = /^ml-repo(?::[^/]+)?\/([^/]+)$/;
const cluster = /^(?:cluster\/)?([^:/]+)$/;

/**
 * What a scope names, by its fqn (`c1:ws1`) or by its identity (`workspace/c1:ws1`); what lies in a workspace is the
 * workspace's, and any other text is the tenant's.
 */
export function scopeTarget(scope: string): AccessTarget {
  const [, repo] = repository.exec(scope) ?? [];
  if (repo !== undefined) return { type: "ml-repo", fqn: repo };
  const [, workspace] = withinWorkspace.exec(scope) ?? [];
  if (workspace !== undefined) return { type: "workspace", fqn: workspace };
  const [, fqn] = cluster.exec(scope) ?? [];
  return fqn === undefined || fqn === tenant ? tenantTarget : { type: "cluster", fqn };
}

/** Where a scope stands, however it is written. */
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

/** The one way to write a scope. */
export function scopeName(path: ScopePath): string {
  return path.length === 0 ? tenant : path.join(":");
}

/** The names of a scope and of all above it: those that cover what lies in it. */
export function coveringScopes(path: ScopePath): readonly string[] {
  return [rootScope, ...path.map((_, at) => path.slice(0, at + 1))].map(scopeName);
}

/** Whether one of two scopes lies in the other, or both are the same. */
export function overlaps(one: ScopePath, other: ScopePath): boolean {
  return one.every((step, at) => at >= other.length || step === other[at]);
}
