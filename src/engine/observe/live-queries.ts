import { compareText } from "../../contract/json.ts";
import { type Kind, parentOf } from "../../core/kind.ts";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { kindOf, kindsByType } from "../../kinds/index.ts";
import type { ReceiptHead } from "../../state/ledger.ts";
import type { Desired } from "../load/desired.ts";
import type { LiveQuery, WavedSource } from "./read-live.ts";

type Requested = {
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** Whether each resource is read by itself instead of whole lists. */
  readonly readsEach: boolean;
  /** Identities that may be orphans, where the plan shows them. */
  readonly mayBeOrphans: Iterable<Identity>;
};

/** The live state that a plan needs: of declared and recorded resources, and of references to other ones. */
export function liveQueries(
  desired: Desired,
  waved: readonly WavedSource[],
  { recorded, mayBeOrphans, readsEach }: Requested,
): readonly LiveQuery[] {
  const groups = new Map<Kind, { declared: WavedSource[]; others: Identity[] }>();
  const groupOf = (type: string) => {
    const kind = kindOf(type);
    if (kind === undefined) return null;
    const known = groups.get(kind);
    if (known !== undefined) return known;
    const group = { declared: [], others: [] };
    groups.set(kind, group);
    return group;
  };
  for (const one of waved) groupOf(one.manifest.kind)?.declared.push(one);
  for (const identity of othersOf(desired, mayBeOrphans)) groupOf(splitIdentity(identity).kind)?.others.push(identity);
  const idOf = (identity: Identity): string | null => recorded.get(identity)?.id ?? null;
  const isRecorded = (identity: Identity): boolean => recorded.has(identity);
  return [...groups].map(([kind, group]) => ({ kind, ...group, isRecorded, idOf, readsEach }));
}

/** Resources that are referred to or were declared earlier, but not declared here. */
function othersOf(
  { manifests, waves, isWhole, declared }: Desired,
  mayBeOrphans: Iterable<Identity>,
): readonly Identity[] {
  // Each manifest has a wave. With equally many waves, their identities are those of the manifests.
  const isAlone = waves.size === manifests.length;
  const known = isAlone ? waves : new Set(manifests.map(({ identity }) => identity));
  const others = new Set<Identity>();
  // Whether a resource is absent may depend on what contains it.
  const add = (identity: Identity): void => {
    if (known.has(identity) || others.has(identity)) return;
    others.add(identity);
    const parent = parentOf(identity, kindsByType);
    if (parent !== null) add(parent);
  };
  for (const { references } of manifests) for (const { identity } of references) add(identity);
  // What is declared and not selected is no orphan.
  for (const identity of mayBeOrphans) if (isWhole || !declared.has(identity)) add(identity);
  return [...others].toSorted(compareText);
}
