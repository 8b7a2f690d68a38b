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

/** The parts of a plan that are kept. */
type Planned = Pick<PlanWithDecisions, "decisions"> & {
  readonly observation: LiveView;
  readonly desired: { readonly declared: ReadonlySet<Identity> };
  /** The selected manifests; those that needed a decision have their values. */
  readonly manifests: readonly SourceManifest[];
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
};

/** The facts to keep for the next plan; null if they have not changed. */
export function liveToKeep(before: LiveFacts, known: KnownInSync, planned: Planned): LiveFacts | null {
  const isSame =
    planned.manifests.every((manifest) => {
      return recordNow(manifest, before, known, planned) === before.inSync.get(manifest.identity);
    }) && known.lists.entries().every(([kind, pages]) => samePages(before.lists.get(kind), pages));
  // Records of resources that are no longer declared stay until the next change.
  if (isSame) return null;
  return { inSync: inSyncNow(before, known, planned), lists: new Map([...before.lists, ...known.lists]) };
}

// Resources that were not selected were not compared: their records stay.
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
function samePages(before: readonly CachedPage[] | undefined, pages: readonly CachedPage[]): boolean {
  const known = new Set(before?.map(({ digest }) => digest));
  return before?.length === pages.length && pages.every(({ digest }) => known.has(digest));
}
