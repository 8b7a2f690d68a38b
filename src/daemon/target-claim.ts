import { HoldfastError } from "../core/errors.ts";
import type { TargetClaim } from "../state/target-store.ts";

/** A target as one process of a fleet has it. */
export type ClaimedTarget = {
  readonly name: string;
  /** Its control plane, as the ledger names it. */
  readonly serverName: string;
  /** The digest of the address, ref and paths of its source; null for a local folder, which each machine has at its place. */
  readonly sourceDigest: string | null;
  readonly machine: string | null;
};

/** Why a target is another configuration's for now. */
export type ClaimRefusal = {
  readonly error: HoldfastError;
  /** Whether the processes of that configuration take the same jobs. */
  readonly sharesJobs: boolean;
};

const LEAST_CLAIM_MS = 60_000;
const MOST_FORMER = 10;

/**
 * Refuses a target whose state another configuration uses for another control plane, or for a source that has replaced the
 * one here. A claim ends two intervals after the last pass, so that a target can get another address; a process replaces its own.
 */
export function claimRefusal(claim: TargetClaim | undefined, own: ClaimedTarget, now: number): ClaimRefusal | null {
  if (claim === undefined || claim.machine === own.machine || claim.until <= now) return null;
  const { name, serverName, sourceDigest } = own;
  const what = `another configuration has the target ${name} in this database, with`;
  if (claim.server !== serverName) {
    const error = refused(`${what} the control plane ${claim.server}; here it has ${serverName}`);
    return { error, sharesJobs: false };
  }
  if (sourceDigest === null || claim.formerSources?.includes(sourceDigest) !== true) return null;
  return { error: refused(`${what} another source, which has replaced the one here`), sharesJobs: true };
}

function refused(message: string): HoldfastError {
  return new HoldfastError("error", message, {
    hint: "give each configuration a database of its own, or its targets other names; a target that got another address goes on by itself",
  });
}

/** The claim after a pass, given the one before it. */
export function claimAfter(
  { serverName, sourceDigest, machine }: ClaimedTarget,
  before: TargetClaim | undefined,
  now: number,
  intervalMs: number,
): TargetClaim {
  const claim = { server: serverName, machine, until: now + Math.max(2 * intervalMs, LEAST_CLAIM_MS) };
  if (sourceDigest === null) return claim;
  const { source, formerSources = [] } = before ?? {};
  const earlier = [...(source === undefined ? [] : [source]), ...formerSources];
  const former = [...new Set(earlier)].filter((one) => one !== sourceDigest).slice(0, MOST_FORMER);
  return { ...claim, source: sourceDigest, formerSources: former };
}
