import { type IgnoreRule, type RuleFinder, ruleFinder } from "../../core/ignore/ignore-rules.ts";
import type { InSync } from "../../core/live.ts";
import type { Identity } from "../../core/manifest.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import { isParsed } from "../../manifests/source-manifest.ts";
import { type Pace, pacer } from "../../source/pacer.ts";
import type { ReceiptContents, ReceiptHead } from "../../state/ledger.ts";
import type { Desired } from "../load/desired.ts";
import type { WavedSource } from "./read-live.ts";

/** What the decisions about resources that are not in sync need. */
export type Undecided = {
  readonly desired: Desired;
  readonly waved: readonly WavedSource[];
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  readonly rulesFor: RuleFinder;
};

type Reading = {
  readonly records: {
    readonly heads: ReadonlyMap<Identity, ReceiptHead>;
    readonly ledger: ReceiptContents;
  };
  readonly ignore: readonly IgnoreRule[];
  readonly pace: Pace;
};

/** Reads manifests, receipts and rules of the resources that are not in sync. */
export async function readUndecided(
  declared: Desired,
  inSync: InSync,
  { records, ignore, pace }: Reading,
): Promise<Undecided> {
  const desired = await withValues(declared, (identity) => !inSync.has(identity), pace);
  const waved = withWaves(desired);
  const recorded = await openWhereRead(inSync, records);
  return { desired, waved, recorded, rulesFor: await findRules(waved, { inSync, ignore, pace }) };
}

/** Each manifest with its depth in the reference graph. */
export function withWaves({ manifests, waves }: Desired): readonly WavedSource[] {
  return manifests.map((manifest) => ({ manifest, wave: waves.get(manifest.identity) ?? 0 }));
}

/** The same manifests, those of the resources that need it with their values. */
export async function withValues(
  desired: Desired,
  isNeeded: (identity: Identity) => boolean,
  pace: Pace,
): Promise<Desired> {
  const unread = desired.manifests.filter((manifest) => !isParsed(manifest) && isNeeded(manifest.identity));
  if (unread.length === 0) return desired;
  const read = await readManifests(unread, pace);
  const values = new Map(read.map((manifest) => [manifest.identity, manifest]));
  return { ...desired, manifests: desired.manifests.map((manifest) => values.get(manifest.identity) ?? manifest) };
}

// Rules are matched here, with pauses: planning is synchronous, and the repository decides how much its rules cost.
async function findRules(
  waved: readonly WavedSource[],
  { inSync, ignore, pace }: { readonly inSync: InSync } & Omit<Reading, "records">,
): Promise<RuleFinder> {
  const rulesFor = ruleFinder(ignore, new Date(pace.clock.now()).toISOString().slice(0, 10));
  if (ignore.length === 0) return rulesFor;
  const pause = pacer(pace);
  for (const { manifest } of waved) {
    if (!inSync.has(manifest.identity)) rulesFor(manifest.identity);
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return rulesFor;
}

// A resource in sync needs no decision, so its receipt stays sealed.
async function openWhereRead(
  inSync: InSync,
  { heads, ledger }: Reading["records"],
): Promise<ReadonlyMap<Identity, ReceiptHead>> {
  const read = heads
    .keys()
    .filter((identity) => !inSync.has(identity))
    .toArray();
  if (read.length === 0) return heads;
  const opened = await ledger.recorded(read);
  return new Map(heads.entries().map(([identity, head]) => [identity, { ...head, ...opened.get(identity) }]));
}
