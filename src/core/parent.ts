import type { Kind } from "./kind.ts";
import { type Identity, splitIdentity } from "./manifest.ts";

/** The workspace, cluster or repo that contains a resource, by its identity alone; null for the tenant. */
export function parentOf(identity: Identity, kindOf: (type: string) => Kind | undefined): Identity | null {
  const { kind, key } = splitIdentity(identity);
  return kindOf(kind)?.parent?.(key) ?? null;
}
