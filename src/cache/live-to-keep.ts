import type { Decision } from "../core/decide.ts";
import type { LiveRow } from "../core/kind.ts";
import { isSettled, type Live } from "../core/live.ts";
import { type Identity, type Manifest, splitIdentity } from "../core/manifest.ts";
import type { PlanWithDecisions, WavedManifest } from "../core/planner.ts";
import { isRecordOf, type RecordedHead, requireOpened } from "../core/recorded.ts";
import type { KnownLive, ListFacts, LiveToKeep, SyncRecord } from "./in-sync.ts";
import type { LiveLookup } from "./live-lookup.ts";

/** What of a look there is to keep. */
type Looked = Pick<PlanWithDecisions, "decisions"> & {
  readonly observation: { readonly live: ReadonlyMap<Identity, Live> };
  readonly desired: { readonly declared: ReadonlySet<Identity> };
  readonly placed: readonly WavedManifest[];
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
};

/** What to keep of a look for the next one; null where nothing is new. */
export function liveToKeep(before: KnownLive, lookup: LiveLookup, looked: Looked): LiveToKeep | null {
  const found = new Map([...settled(lookup, looked), ...newlyInSync(looked)]);
  const { news } = lookup;
  if (found.size === 0 && news.size === 0) return null;
  return { inSync: inSyncNow(before, lookup, found, looked), lists: listsNow(before, lookup, found) };
}

// Whoever finds a list as it was takes every record that was kept for one of a row of it, as the list tells
// which: what was in sync with an earlier one, and was not looked at since, is forgotten.
function* inSyncNow(
  { inSync }: KnownLive,
  { news }: LiveLookup,
  found: ReadonlyMap<Identity, SyncRecord>,
  { placed, observation: { live }, desired: { declared } }: Looked,
): Generator<readonly [Identity, SyncRecord]> {
  const seen = new Set<Identity>();
  for (const { manifest } of placed) {
    const { identity } = manifest;
    seen.add(identity);
    const record = found.get(identity) ?? (isSettled(live.get(identity)) ? inSync.get(identity) : undefined);
    if (record !== undefined) yield [identity, record];
  }
  for (const [identity, record] of inSync) {
    const isAsItWas = !news.has(splitIdentity(identity).kind);
    if (isAsItWas && declared.has(identity) && !seen.has(identity)) yield [identity, record];
  }
}

// And a list that was not read is forgotten where something else told what is in sync.
function listsNow(
  { lists }: KnownLive,
  { news, isRead }: LiveLookup,
  found: ReadonlyMap<Identity, SyncRecord>,
): ReadonlyMap<string, ListFacts> {
  const otherwise = new Set(found.keys().map((identity) => splitIdentity(identity).kind));
  const kept = lists.entries().filter(([kind]) => isRead(kind) || !otherwise.has(kind));
  return new Map([...kept, ...news]);
}

// A list that was read once more may have told otherwise.
function settled(
  { found }: LiveLookup,
  { observation: { live } }: Looked,
): readonly (readonly [Identity, SyncRecord])[] {
  return [...found].filter(([identity]) => live.get(identity)?.state === "unread");
}

function* newlyInSync({
  placed,
  decisions,
  observation,
  recorded,
}: Looked): Generator<readonly [Identity, SyncRecord]> {
  for (const { manifest } of placed) {
    const { identity } = manifest;
    const live = observation.live.get(identity);
    const decision = decisions.get(identity);
    if (decision === undefined || isSettled(live)) continue;
    const receipt = recorded.get(identity);
    const record =
      live?.state === "present"
        ? recordOf(manifest, live.row, decision, receipt)
        : recordByLedger(manifest, decision, receipt);
    if (record !== null) yield [identity, record];
  }
}

// Only where nothing is to be done or said, and the receipt says exactly what is there: what decides otherwise has moved.
// A default that live leaves out is no difference to act on, but one that a new rule would count.
function recordOf(
  manifest: Manifest,
  row: LiveRow,
  { action, reason, differences, ignored }: Decision,
  recorded: RecordedHead | undefined,
): SyncRecord | null {
  const isEqual = action === "keep" && reason === null && differences.length + ignored.length === 0;
  const { digest, value } = manifest;
  if (!isEqual || digest === undefined || row.imprint === undefined) return null;
  const record = { manifest: digest, row: row.imprint };
  if (recorded === undefined) return { ...record, receipt: null };
  if (recorded.mark === undefined || !isRecordOf(requireOpened(recorded), value, row.manifest)) return null;
  return { ...record, receipt: recorded.mark };
}

// Where live cannot be read, the receipt is all there is to be in sync with.
function recordByLedger(
  { digest }: Manifest,
  { reason }: Decision,
  receipt: RecordedHead | undefined,
): SyncRecord | null {
  if (reason !== "by-ledger" || digest === undefined || receipt?.mark === undefined) return null;
  return { manifest: digest, row: null, receipt: receipt.mark };
}
