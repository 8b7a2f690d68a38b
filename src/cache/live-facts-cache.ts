import { isDeepStrictEqual } from "node:util";
import type { Decision } from "../core/decide/decision.ts";
import type { LiveRow } from "../core/kind.ts";
import type { LiveView } from "../core/live.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import type { PlanWithDecisions } from "../core/plan/plan-input.ts";
import { isRecordOf, requireOpened } from "../core/recorded.ts";
import { isParsed, type SourceManifest } from "../manifests/source-manifest.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import type { OnForgotten, StateCache } from "../state/state.ts";
import type { RowsRead } from "./known-in-sync.ts";
import {
  type CachedList,
  type LiveFacts,
  NO_LIVE_FACTS,
  readLiveFacts,
  type SyncRecord,
  writeLiveFacts,
} from "./live-facts.ts";

/** Keeps the facts about one control plane from pass to pass. */
export type LiveCache = {
  /** The facts. The receipts must be those of the same control plane. */
  readonly load: (recorded: ReadonlyMap<Identity, ReceiptHead>) => Promise<LiveFacts>;
  /** Keeps what a plan has found in sync, for the next one. */
  readonly keep: (planned: Planned) => Promise<void>;
};

/**
 * Keeps the facts about one control plane in memory, and between runs in the state. `onForgotten` is called if they cannot
 * be stored; it is null if nothing can be stored, which was then reported already.
 */
export function liveCacheIn(content: StateCache, onForgotten: OnForgotten | null): LiveCache {
  let known: LiveFacts | null = null;
  return {
    load: async (recorded) => {
      const text = await content.readNew();
      known = text === null ? (known ?? NO_LIVE_FACTS) : readLiveFacts(text, recorded);
      return known;
    },
    keep: async (planned) => {
      if (known === null || planned.rowsRead === null) return;
      const facts = factsAfter(known, planned.rowsRead, planned);
      if (facts === null) return;
      known = facts;
      if (onForgotten === null) return;
      const failure = await content.write(writeLiveFacts(facts));
      if (failure !== null) onForgotten("what was read of the control plane", failure);
    },
  };
}

/** The parts of a plan that are kept. */
type Planned = Pick<PlanWithDecisions, "decisions"> & {
  readonly observation: LiveView;
  /** The selected manifests; those that needed a decision have their values. */
  readonly desired: { readonly declared: ReadonlySet<Identity>; readonly manifests: readonly SourceManifest[] };
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** The resources that have files outside their manifests. */
  readonly files: ReadonlyMap<Identity, unknown>;
  /** Null where nothing is kept. */
  readonly rowsRead: RowsRead | null;
};

// Null if the facts have not changed.
function factsAfter(before: LiveFacts, read: RowsRead, planned: Planned): LiveFacts | null {
  const isSame =
    planned.desired.manifests.every((manifest) => {
      return recordNow(manifest, before, read, planned) === before.inSync.get(manifest.identity);
    }) && read.lists.entries().every(([kind, list]) => isSameList(before.lists.get(kind), list));
  // Records of resources that are no longer declared stay until the next change.
  if (isSame) return null;
  return { inSync: inSyncNow(before, read, planned), lists: new Map([...before.lists, ...read.lists]) };
}

// Resources that were not selected were not compared: their records stay.
function inSyncNow(before: LiveFacts, read: RowsRead, planned: Planned): ReadonlyMap<Identity, SyncRecord> {
  const { declared, manifests } = planned.desired;
  const records = new Map<Identity, SyncRecord>();
  for (const manifest of manifests) {
    const record = recordNow(manifest, before, read, planned);
    if (record !== undefined) records.set(manifest.identity, record);
  }
  const selected = new Set(manifests.map(({ identity }) => identity));
  for (const [identity, record] of before.inSync) {
    if (declared.has(identity) && !selected.has(identity)) records.set(identity, record);
  }
  return records;
}

function recordNow(
  manifest: SourceManifest,
  before: LiveFacts,
  read: RowsRead,
  planned: Planned,
): SyncRecord | undefined {
  const { identity } = manifest;
  // Its files may change while the manifest stays.
  if (planned.files.has(identity)) return undefined;
  if (!planned.observation.inSync.has(identity)) return newRecord(manifest, read, planned);
  return read.inSync.get(identity) ?? before.inSync.get(identity);
}

function newRecord(manifest: SourceManifest, read: RowsRead, planned: Planned): SyncRecord | undefined {
  const { decisions, observation, recorded } = planned;
  const { identity, digest } = manifest;
  const decision = decisions.get(identity);
  if (decision === undefined || digest === undefined || !isParsed(manifest)) return undefined;
  const live = observation.live.get(identity);
  const receipt = recorded.get(identity);
  const mark = receipt?.mark ?? null;
  if (live?.state === "present") {
    const row = read.digests.get(live.row);
    if (row === undefined || !isInSync(manifest, live.row, decision, receipt)) return undefined;
    return { manifest: digest, receipt: mark, row };
  }
  // If live cannot be read, the manifest can only be in sync with its receipt.
  return decision.reason === "by-ledger" && mark !== null ? { manifest: digest, receipt: mark, row: null } : undefined;
}

// Only if there is nothing to do or report, and the receipt equals live exactly. Otherwise a later decision may depend
// on more than the digests: a default that live leaves out is not a difference now, but a new rule may count it as one.
function isInSync(
  { value }: Manifest,
  row: LiveRow,
  { action, reason, differences, ignored }: Decision,
  receipt: ReceiptHead | undefined,
): boolean {
  if (action !== "keep" || reason !== null || differences.length + ignored.length > 0) return false;
  return (
    receipt === undefined || (receipt.mark !== undefined && isRecordOf(requireOpened(receipt), value, row.manifest))
  );
}

// Pages are read concurrently, and arrive in any order.
function isSameList(before: CachedList | undefined, { within, pages, state, ranges }: CachedList): boolean {
  if (before === undefined || before.state !== state || before.pages.length !== pages.length) return false;
  if (!isDeepStrictEqual(before.within, within)) return false;
  if (before.ranges.size !== ranges.size || [...ranges].some(([one, said]) => before.ranges.get(one) !== said))
    return false;
  const known = new Set(before.pages.map(({ digest }) => digest));
  return pages.every(({ digest }) => known.has(digest));
}
