import type { Clock } from "../../clock/clock.ts";
import { concludeAbsence } from "../../core/conclude-absence.ts";
import { staleness } from "../../core/decide/decide-each.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import { HoldfastError } from "../../core/errors.ts";
import { liveGuard, type ShrinkLimits } from "../../core/guards/mass-change-guards.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Sight } from "../../core/sight.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { ReceiptHead } from "../../state/ledger.ts";
import type { KnownServer } from "../known-server.ts";
import type { Desired } from "../load/desired.ts";
import type { Observation } from "./read-live.ts";

/** The records and facts by which live is judged. */
type JudgeContext = {
  readonly serverFacts: KnownServer;
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  readonly clock: Clock;
  readonly liveLimits?: ShrinkLimits;
};

/** Live with absence only where it is proven: what a list or a lookup does not show may exist unseen, unless a dry run shows otherwise. */
export function concluded(
  observation: Observation,
  dryRuns: ReadonlyMap<Identity, DryRunReply>,
  sight: Sight,
  { serverFacts }: Pick<JudgeContext, "serverFacts">,
): Observation {
  const isProven = serverFacts.dryRun === "proven";
  return { ...observation, live: concludeAbsence(observation, { sight, kinds: kindsByType, dryRuns, isProven }) };
}

/** Live without the records that are too old: where live cannot be read, the last write is trusted only for a limited time. */
export function withoutStale(
  observation: Observation,
  { declared }: Desired,
  { recorded, clock }: Pick<JudgeContext, "recorded" | "clock">,
): Observation {
  const isStale = staleness({ recorded, declared, live: observation.live, now: clock.now() });
  const inSync = new Map(observation.inSync);
  for (const [identity, by] of inSync) if (by === "ledger" && isStale(identity)) inSync.delete(identity);
  return { ...observation, inSync };
}

/** Refuses a control plane that has few of the recorded resources: it was emptied or restored, or is the wrong one. */
export function guardLive(
  observation: Observation,
  { declared }: Desired,
  { recorded, serverFacts, liveLimits }: Pick<JudgeContext, "recorded" | "serverFacts" | "liveLimits">,
): void {
  if (liveLimits === undefined || !observation.live.values().some(({ state }) => state === "absent")) return;
  const counted = recorded.keys().filter((identity) => declared.has(identity) || !serverFacts.released.has(identity));
  const emptied = liveGuard(counted, observation, liveLimits);
  if (emptied === null) return;
  throw new HoldfastError("refused", emptied, {
    hint: "nothing is written until live is complete again; if it was emptied or restored on purpose, run with --allow-shrink",
  });
}
