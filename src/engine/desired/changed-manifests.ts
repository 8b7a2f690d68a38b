import { isDeepStrictEqual } from "node:util";
import type { Identity } from "../../core/manifest.ts";
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
  const manifests = withDependants(from, begun);
  if (manifests === null) return null;
  return { ...desired, manifests, isWhole: false, notLookedAt: desired.manifests.length - manifests.length };
}

function declaredIn({ loaded }: ReadRevision, paths: ReadonlySet<string>): readonly Identity[] {
  const files = loaded.contents.filesByPath.among(paths);
  return files.flatMap(({ content }) => content.declarations.flatMap(({ identity }) => identity ?? []));
}

function withDependants({ loaded }: ReadRevision, begun: ReadonlySet<Identity>): Desired["manifests"] | null {
  const all = new Set(begun);
  // Also what is added on the way.
  for (const identity of all) {
    if (all.size > MOST) return null;
    for (const referrer of loaded.referrers().get(identity) ?? []) all.add(referrer);
  }
  return loaded.manifestsByIdentity.among(all);
}
