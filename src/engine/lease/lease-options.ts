import { groupOf } from "../../core/kind.ts";
import type { ManifestHead } from "../../core/manifest.ts";
import type { PassEvent } from "../../core/report/events.ts";
import { runWarning } from "../../core/run-warning.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { DesiredRead } from "../load.ts";
import type { Run } from "../run.ts";
import type { ServerSession } from "../session.ts";
import type { TargetConnection } from "../target.ts";
import type { LeaseOptions } from "./lease.ts";

/** The lease scope of the whole tenant, which overlaps with every other scope. */
export const TENANT_SCOPE = "holdfast";

/** The options of a lease on everything that a source writes. */
export async function leaseOptions(
  { session, state }: TargetConnection,
  { rules, manifests }: DesiredRead,
  { clock, signal }: Run,
): Promise<LeaseOptions> {
  return {
    writer: session.writer,
    scope: rules.leaseScope ?? scopeOf(manifests),
    holder: await state.holder(),
    former: await state.formerHolder(),
    requestTimeoutMs: rules.requestTimeoutMs,
    ...(rules.maxLeaseMs === null ? {} : { maxMs: rules.maxLeaseMs }),
    // A stop request releases the lease; it does not interrupt the release.
    signal,
    clock,
  };
}

// The narrowest scope that covers a source: its workspace if it has only one, otherwise the whole tenant.
function scopeOf(manifests: readonly ManifestHead[]): string {
  const [first] = manifests;
  const only = first === undefined ? null : groupOf(first, kindsByType);
  if (!only?.includes(":")) return TENANT_SCOPE;
  return manifests.every((manifest) => groupOf(manifest, kindsByType) === only) ? only : TENANT_SCOPE;
}

/** The warning that writes proceed without a lease. */
export function noLease({ capabilities }: ServerSession, { scope }: LeaseOptions, why: string): PassEvent {
  const hint = capabilities.has("putLease") ? "; --lease-scope names what this token may write" : "";
  const detail = `nothing but the lock of the state keeps two writers apart${hint}`;
  return { what: "warned", warnings: [runWarning("no-lease", `going on without a lease on ${scope}: ${why}`, detail)] };
}
