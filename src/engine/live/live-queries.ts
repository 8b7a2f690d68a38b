import { compareText } from "../../contract/json.ts";
import type { Kind } from "../../core/kind.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { parentByName } from "../../core/parent.ts";
import type { ReceiptHead } from "../../state/ledger.ts";
import type { Desired } from "../desired/desired.ts";
import type { LiveQuery, WavedSource } from "./observe.ts";

type LiveQueryContext = {
  readonly kindOf: (type: string) => Kind | undefined;
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
};

/** Everything whose live a plan asks for: the declared, what they refer to elsewhere, and what was recorded. */
export function liveQueries(
  desired: Desired,
  waved: readonly WavedSource[],
  { kindOf, recorded }: LiveQueryContext,
): readonly LiveQuery[] {
  const asked = new Map<Kind, { declared: WavedSource[]; others: Identity[] }>();
  const groupOf = (type: string) => {
    const kind = kindOf(type);
    if (kind === undefined) return null;
    const known = asked.get(kind);
    if (known !== undefined) return known;
    const group = { declared: [], others: [] };
    asked.set(kind, group);
    return group;
  };
  for (const one of waved) groupOf(one.manifest.kind)?.declared.push(one);
  for (const identity of othersOf(desired, recorded)) groupOf(splitIdentity(identity).kind)?.others.push(identity);
  const idOf = (identity: Identity): string | null => recorded.get(identity)?.id ?? null;
  const isRecorded = (identity: Identity): boolean => recorded.has(identity);
  return [...asked].map(([kind, group]) => ({ kind, ...group, isRecorded, idOf }));
}

/** What is not declared here, but referred to or recorded. */
function othersOf(
  { manifests, waves, isWhole, base, applied }: Desired,
  recorded: ReadonlyMap<Identity, ReceiptHead>,
): readonly Identity[] {
  // Each manifest has its wave: where there are as many, they are theirs.
  const isAlone = waves.size === manifests.length;
  const known = isAlone ? waves : new Set(manifests.map(({ identity }) => identity));
  const others = new Set<Identity>();
  for (const { references } of manifests) {
    for (const { identity } of references) {
      if (known.has(identity)) continue;
      others.add(identity);
      // Whether what it lies in is visible tells whether it can be told to be absent.
      const parent = parentByName(identity);
      if (parent !== null && !known.has(parent)) others.add(parent);
    }
  }
  if (isWhole) {
    for (const identity of recorded.keys()) if (!known.has(identity)) others.add(identity);
    for (const side of [base, applied]) {
      for (const identity of side?.keys() ?? []) if (!known.has(identity)) others.add(identity);
    }
  }
  return [...others].toSorted(compareText);
}
