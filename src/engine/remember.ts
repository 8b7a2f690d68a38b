import type { Decision } from "../core/decide.ts";
import type { LiveRow } from "../core/kind.ts";
import { isSettled } from "../core/live.ts";
import { type Identity, type Manifest, splitIdentity } from "../core/manifest.ts";
import type { Placed, Planned } from "../core/planner.ts";
import { opened, type RecordedHead, saysExactly } from "../core/recorded.ts";
import type { Accord, ListFacts, Remembered, ToRemember } from "./accord.ts";
import type { Observation } from "./observe.ts";
import type { Recollection } from "./recollection.ts";

/** What of a look there is to remember. */
type Looked = Pick<Planned, "decisions"> & {
  readonly observation: Pick<Observation, "live">;
  readonly desired: { readonly declared: ReadonlySet<Identity> };
  readonly placed: readonly Placed[];
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
};

/** What to remember of a look for the next one; null where nothing is new. */
export function remember(before: Remembered, recollection: Recollection, looked: Looked): ToRemember | null {
  const found = new Map([...settled(recollection, looked), ...newAccords(looked)]);
  const { news } = recollection;
  if (found.size === 0 && news.size === 0) return null;
  return { accords: accordsNow(before, recollection, found, looked), lists: listsNow(before, recollection, found) };
}

// Whoever finds a list as it is remembered takes every remembered accord for one with a row of it, as the list tells
// which: what was in accord with an earlier one, and was not looked at since, is forgotten.
function* accordsNow(
  { accords }: Remembered,
  { news }: Recollection,
  found: ReadonlyMap<Identity, Accord>,
  { placed, observation: { live }, desired: { declared } }: Looked,
): Generator<readonly [Identity, Accord]> {
  const seen = new Set<Identity>();
  for (const { manifest } of placed) {
    const { identity } = manifest;
    seen.add(identity);
    const accord = found.get(identity) ?? (isSettled(live.get(identity)) ? accords.get(identity) : undefined);
    if (accord !== undefined) yield [identity, accord];
  }
  for (const [identity, accord] of accords) {
    const isAsItWas = !news.has(splitIdentity(identity).kind);
    if (isAsItWas && declared.has(identity) && !seen.has(identity)) yield [identity, accord];
  }
}

// And a list that was not read is forgotten where something else told of an accord.
function listsNow(
  { lists }: Remembered,
  { news, isRead }: Recollection,
  found: ReadonlyMap<Identity, Accord>,
): ReadonlyMap<string, ListFacts> {
  const otherwise = new Set(found.keys().map((identity) => splitIdentity(identity).kind));
  const kept = lists.entries().filter(([kind]) => isRead(kind) || !otherwise.has(kind));
  return new Map([...kept, ...news]);
}

// A list that was read once more may have told otherwise.
function settled({ found }: Recollection, { observation: { live } }: Looked): readonly (readonly [Identity, Accord])[] {
  return [...found].filter(([identity]) => live.get(identity)?.state === "unread");
}

function* newAccords({ placed, decisions, observation, recorded }: Looked): Generator<readonly [Identity, Accord]> {
  for (const { manifest } of placed) {
    const { identity } = manifest;
    const live = observation.live.get(identity);
    const decision = decisions.get(identity);
    if (decision === undefined || isSettled(live)) continue;
    const receipt = recorded.get(identity);
    const accord =
      live?.state === "present"
        ? accordOf(manifest, live.row, decision, receipt)
        : accordByLedger(manifest, decision, receipt);
    if (accord !== null) yield [identity, accord];
  }
}

// Only where nothing is to be done or said, and the receipt says exactly what is there: what decides otherwise has moved.
// A default that live leaves out is no difference to act on, but one that a new rule would count.
function accordOf(
  manifest: Manifest,
  row: LiveRow,
  { action, reason, differences, ignored }: Decision,
  recorded: RecordedHead | undefined,
): Accord | null {
  const isEqual = action === "keep" && reason === null && differences.length + ignored.length === 0;
  const { digest, value } = manifest;
  if (!isEqual || digest === undefined || row.imprint === undefined) return null;
  const accord = { manifest: digest, row: row.imprint };
  if (recorded === undefined) return { ...accord, receipt: null };
  if (recorded.mark === undefined || !saysExactly(opened(recorded), value, row.manifest)) return null;
  return { ...accord, receipt: recorded.mark };
}

// Where live cannot be read, the receipt is all there is to be in accord with.
function accordByLedger({ digest }: Manifest, { reason }: Decision, receipt: RecordedHead | undefined): Accord | null {
  if (reason !== "by-ledger" || digest === undefined || receipt?.mark === undefined) return null;
  return { manifest: digest, row: null, receipt: receipt.mark };
}
