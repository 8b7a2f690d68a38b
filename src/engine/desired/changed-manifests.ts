import { isDeepStrictEqual } from "node:util";
import type { Identity, ManifestHead } from "../../core/manifest.ts";
import type { Desired } from "../plan-against-live.ts";
import type { LastGood } from "./last-good-revision.ts";
import type { DesiredRead } from "./read-desired.ts";

/** From so many resources on, reading whole lists costs less than reading each. */
const MOST = 100;

/**
 * The part of a source that a commit pass looks at: what has changed since the last good revision, what the pass over that
 * has left undone, and what refers to either. Null where everything is to be looked at.
 */
export function changedManifests(read: DesiredRead, { read: before, undone }: LastGood): Desired | null {
  if (before === null || undone === null) return null;
  const { desired, rules, from } = read;
  const { since } = from.revision;
  const isSame = from.revision === before.from.revision;
  if (!isSame && since?.commit !== before.from.revision.commit) return null;
  if (!desired.isWhole || !isDeepStrictEqual(rules, before.rules)) return null;
  const { declared } = desired;
  if (before.desired.declared !== declared && !before.desired.declared.isSubsetOf(declared)) return null;
  const changed = isSame ? new Set<string>() : (since?.changed ?? new Set());
  const begun = new Set([...undone, ...declaredIn(read, changed)]);
  const manifests = withDependants(desired.manifests, begun);
  if (manifests === null) return null;
  return { ...desired, manifests, isWhole: false, others: desired.manifests.length - manifests.length };
}

function declaredIn({ from: { loaded } }: DesiredRead, paths: ReadonlySet<string>): readonly Identity[] {
  if (paths.size === 0) return [];
  const files = loaded.contents.files.filter(({ file }) => paths.has(file.path));
  return files.flatMap(({ content }) => content.declarations.flatMap(({ identity }) => identity ?? []));
}

// Each manifest comes after everything that it refers to.
function withDependants<One extends ManifestHead>(
  manifests: readonly One[],
  begun: ReadonlySet<Identity>,
): readonly One[] | null {
  if (begun.size > MOST) return null;
  const all = new Set(begun);
  const part: One[] = [];
  for (const manifest of manifests) {
    if (!all.has(manifest.identity) && !refersToOne(manifest, all)) continue;
    all.add(manifest.identity);
    part.push(manifest);
    if (part.length > MOST) return null;
  }
  return part;
}

// A loop, since it runs for everything that there is.
function refersToOne({ references }: ManifestHead, identities: ReadonlySet<Identity>): boolean {
  for (const { identity } of references) if (identities.has(identity)) return true;
  return false;
}
