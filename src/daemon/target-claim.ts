import { HoldfastError } from "../core/errors.ts";
import type { TargetClaim } from "../state/target-store.ts";

/** A target as one process of a fleet has it. */
export type ClaimedTarget = {
  readonly name: string;
  /** Its control plane, as the ledger names it. */
  readonly serverName: string;
  readonly machine: string | null;
};

const LEAST_CLAIM_MS = 60_000;

/**
 * Refuses a target whose state another configuration uses for another control plane. A claim ends two intervals after the last
 * pass, so that a target can get another address; a process replaces its own.
 */
export function requireClaim(claim: TargetClaim | undefined, own: ClaimedTarget, now: number): void {
  const { name, serverName, machine } = own;
  if (claim === undefined || claim.server === serverName || claim.machine === machine || claim.until <= now) return;
  throw new HoldfastError(
    "error",
    `another configuration has the target ${name} in this database, with the control plane ${claim.server}; here it has ${serverName}`,
    {
      hint: "give each configuration a database of its own, or its targets other names; a target that got another address goes on by itself",
    },
  );
}

/** The claim after a pass. */
export function claimAfter({ serverName, machine }: ClaimedTarget, now: number, intervalMs: number): TargetClaim {
  return { server: serverName, machine, until: now + Math.max(2 * intervalMs, LEAST_CLAIM_MS) };
}
