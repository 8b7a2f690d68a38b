import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import { concludeAbsence } from "../../core/conclude-absence.ts";
import { staleness } from "../../core/decide/decide-each.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import { HoldfastError } from "../../core/errors.ts";
import { liveGuard } from "../../core/guards/mass-change-guards.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Sight } from "../../core/sight.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { ReceiptHead } from "../../state/ledger.ts";
import type { Desired } from "../load/desired.ts";
import type { PlanRules } from "../target.ts";
import type { Observation } from "./read-live.ts";

/** Live with absence only where it is proven: what a list or a lookup does not show may exist unseen, unless a dry run shows otherwise. */
export function concluded(
  observation: Observation,
  dryRuns: ReadonlyMap<Identity, DryRunReply>,
  sight: Sight,
  { dryRun }: ServerCapabilities,
): Observation {
  const isProven = dryRun === "proven";
  return { ...observation, live: concludeAbsence(observation, { sight, kinds: kindsByType, dryRuns, isProven }) };
}

type Recorded = { readonly recorded: ReadonlyMap<Identity, ReceiptHead> };

/** Live without the records that are too old: where live cannot be read, the last write is trusted only for a limited time. */
export function withoutStale(
  observation: Observation,
  { declared }: Desired,
  { recorded, now }: Recorded & { readonly now: number },
): Observation {
  const isStale = staleness({ recorded, declared, live: observation.live, now });
  const inSync = new Map(observation.inSync);
  for (const [identity, by] of inSync) if (by === "ledger" && isStale(identity)) inSync.delete(identity);
  return { ...observation, inSync };
}

/** Refuses a control plane that has few of the recorded resources: it was emptied or restored, or is the wrong one. */
export function guardLive(
  observation: Observation,
  { declared }: Desired,
  {
    recorded,
    capabilities,
    rules,
  }: Recorded & { readonly capabilities: ServerCapabilities; readonly rules: PlanRules },
): void {
  if (rules.allowShrink || !observation.live.values().some(({ state }) => state === "absent")) return;
  const counted = recorded.keys().filter((identity) => declared.has(identity) || !capabilities.released.has(identity));
  const emptied = liveGuard(counted, observation, rules.guards);
  if (emptied === null) return;
  throw new HoldfastError("refused", emptied, {
    hint: "nothing is written until live is complete again; if it was emptied or restored on purpose, run plan, apply or watch with --allow-shrink",
  });
}
