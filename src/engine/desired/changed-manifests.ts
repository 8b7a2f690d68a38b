import { isDeepStrictEqual } from "node:util";
import type { Identity, ManifestHead } from "../../core/manifest.ts";
import { membersNamed } from "../../model/positions.ts";
import type { Desired } from "./desired.ts";
import type { LastGood } from "./last-good-revision.ts";
import type { DesiredRead, ReadRevision } from "./read-desired.ts";

/** From so many resources on, reading whole lists costs less than reading each. */
const MOST = 100;

/**
 * The part of a source that a commit pass looks at: what has changed since the last good revision, what the pass over that
 * has left undone, and what refers to either. Null where everything is to be looked at.
 */
export function changedManifests(read: DesiredRead, { read: before, undone }: LastGood): Desired | null {
  const { desired, rules, from } = read;
  if (before === null || undone === null || from === null || before.from === null) return null;
  const { since } = from.revision;
  const isSame = from.revision === before.from.revision;
  if (!isSame && since?.commit !== before.from.revision.commit) return null;
  if (!desired.isWhole || !isDeepStrictEqual(rules, before.rules)) return null;
  const { declared } = desired;
  if (before.desired.declared !== declared && !before.desired.declared.isSubsetOf(declared)) return null;
  const changed = isSame ? new Set<string>() : (since?.changed ?? new Set());
  const begun = new Set([...undone, ...declaredIn(from, changed)]);
  const manifests = withDependants(desired, begun);
  if (manifests === null) return null;
  return { ...desired, manifests, isWhole: false, notLookedAt: desired.manifests.length - manifests.length };
}

function declaredIn({ loaded }: ReadRevision, paths: ReadonlySet<string>): readonly Identity[] {
  if (paths.size === 0) return [];
  const files = membersNamed(loaded.contents.files, paths, ({ file }) => file.path);
  return files.flatMap(({ content }) => content.declarations.flatMap(({ identity }) => identity ?? []));
}

function withDependants({ manifests, declared }: Desired, begun: ReadonlySet<Identity>): Desired["manifests"] | null {
  const referrers = referrersIn(manifests, declared);
  const all = new Set(begun);
  // Also what is added on the way.
  for (const identity of all) {
    if (all.size > MOST) return null;
    for (const referrer of referrers.get(identity) ?? []) all.add(referrer);
  }
  return membersNamed(manifests, all, ({ identity }) => identity);
}

type Referrers = ReadonlyMap<Identity, readonly Identity[]>;

const known = new WeakMap<Desired["declared"], Referrers>();

// Revisions whose manifests refer to each other alike share what is declared.
function referrersIn(manifests: readonly ManifestHead[], declared: Desired["declared"]): Referrers {
  const found = known.get(declared);
  if (found !== undefined) return found;
  const referrers = new Map<Identity, Identity[]>();
  for (const { identity, references } of manifests) {
    for (const { identity: named } of references) {
      const others = referrers.get(named);
      if (others === undefined) referrers.set(named, [identity]);
      else others.push(identity);
    }
  }
  known.set(declared, referrers);
  return referrers;
}
