import type { Decision } from "../core/decide/decision.ts";
import type { LiveRow } from "../core/kind.ts";
import type { LiveView } from "../core/live.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import type { PlanWithDecisions } from "../core/plan/plan-input.ts";
import { isRecordOf, requireOpened } from "../core/recorded.ts";
import { isParsed, type SourceManifest } from "../manifests/source-manifest.ts";
import type { ReceiptHead } from "../state/ledger.ts";
import type { KnownInSync } from "./known-in-sync.ts";
import type { LiveFacts, SyncRecord } from "./live-facts.ts";
import type { CachedPage } from "./unparsed-row.ts";

/** What of a plan there is to keep. */
type Planned = Pick<PlanWithDecisions, "decisions"> & {
  readonly observation: LiveView;
  readonly desired: { readonly declared: ReadonlySet<Identity> };
  /** The selected manifests, read where something was decided about them. */
  readonly manifests: readonly SourceManifest[];
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
};

/** What to keep of a plan for the next one; null where nothing is new. */
export function liveToKeep(before: LiveFacts, known: KnownInSync, planned: Planned): LiveFacts | null {
  const isSame =
    planned.manifests.every((manifest) => {
      return recordNow(manifest, before, known, planned) === before.inSync.get(manifest.identity);
    }) && known.lists.entries().every(([kind, pages]) => samePages(before.lists.get(kind), pages));
  // What is no longer declared stays until something new is kept.
  if (isSame) return null;
  return { inSync: inSyncNow(before, known, planned), lists: new Map([...before.lists, ...known.lists]) };
}

// Of what was not selected nothing was found out.
function inSyncNow(before: LiveFacts, known: KnownInSync, planned: Planned): ReadonlyMap<Identity, SyncRecord> {
  const { desired, manifests } = planned;
  const records = new Map<Identity, SyncRecord>();
  for (const manifest of manifests) {
    const record = recordNow(manifest, before, known, planned);
    if (record !== undefined) records.set(manifest.identity, record);
  }
  const selected = new Set(manifests.map(({ identity }) => identity));
  for (const [identity, record] of before.inSync) {
    if (desired.declared.has(identity) && !selected.has(identity)) records.set(identity, record);
  }
  return records;
}

function recordNow(
  manifest: SourceManifest,
  before: LiveFacts,
  known: KnownInSync,
  planned: Planned,
): SyncRecord | undefined {
  const { identity } = manifest;
  if (!planned.observation.inSync.has(identity)) return newRecord(manifest, known, planned);
  return known.found.get(identity) ?? before.inSync.get(identity);
}

function newRecord(manifest: SourceManifest, known: KnownInSync, planned: Planned): SyncRecord | undefined {
  const { decisions, observation, recorded } = planned;
  const { identity, digest } = manifest;
  const decision = decisions.get(identity);
  if (decision === undefined || digest === undefined || !isParsed(manifest)) return undefined;
  const live = observation.live.get(identity);
  const receipt = recorded.get(identity);
  const mark = receipt?.mark ?? null;
  if (live?.state === "present") {
    const row = known.digestOf(live.row);
    if (row === undefined || !isInSync(manifest, live.row, decision, receipt)) return undefined;
    return { manifest: digest, receipt: mark, row };
  }
  // Where live cannot be read, the receipt is all there is to be in sync with.
  return decision.reason === "by-ledger" && mark !== null ? { manifest: digest, receipt: mark, row: null } : undefined;
}

// Only where nothing is to be done or said, and the receipt says exactly what is there: what decides otherwise has moved.
// A default that live leaves out is no difference to act on, but one that a new rule would count.
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

// They are read some at a time, and come in any order.
function samePages(before: readonly CachedPage[] | undefined, pages: readonly CachedPage[]): boolean {
  const known = new Set(before?.map(({ digest }) => digest));
  return before?.length === pages.length && pages.every(({ digest }) => known.has(digest));
}
