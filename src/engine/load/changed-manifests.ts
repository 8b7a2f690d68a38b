// src/engine/load: the phase that reads what a revision declares. See docs/architecture.md#a-pass.

import { isDeepStrictEqual } from "node:util";
import type { Identity } from "../../core/manifest.ts";
import type { RevisionFiles } from "../../source/revision.ts";
import type { DesiredRead, ReadRevision } from "../load.ts";
import type { Desired } from "./desired.ts";
import type { PassMemory } from "./pass-memory.ts";

/** For more resources than this, reading whole lists costs less than reading each one. */
const MAX_SINGLE_READS = 100;

/**
 * The part of a source that a commit pass reconciles: changes since the revision applied last, unfinished resources of its
 * pass, and resources that refer to either. Null where the pass must reconcile everything.
 */
export function changedManifests(read: DesiredRead, { lastApplied: before, unfinished }: PassMemory): Desired | null {
  const { desired, rules, from } = read;
  if (before === null || unfinished === null || from === null || before.from === null) return null;
  const changed = changedPaths(from.revision, before.from.revision);
  if (changed === null) return null;
  if (!desired.isWhole || !isDeepStrictEqual(rules, before.rules)) return null;
  const { declared } = desired;
  if (before.desired.declared !== declared && !before.desired.declared.isSubsetOf(declared)) return null;
  const begun = new Set([...unfinished, ...declaredIn(from, changed)]);
  const manifests = withDependants(from, begun);
  if (manifests === null) return null;
  return { ...desired, manifests, isWhole: false, outOfScope: desired.manifests.length - manifests.length };
}

function changedPaths(revision: RevisionFiles, before: RevisionFiles): ReadonlySet<string> | null {
  if (revision === before) return new Set();
  const { since, files } = revision;
  if (since !== undefined) return since.commit === before.commit ? since.changed : null;
  // Where all files were read again, their blob ids show the changes; without blob ids, nothing does.
  if (files.some(({ blob }) => blob === null)) return null;
  const known = new Set(before.files.map(({ path, blob }) => `${blob} ${path}`));
  return new Set(files.flatMap(({ path, blob }) => (known.has(`${blob} ${path}`) ? [] : [path])));
}

function declaredIn({ loaded }: ReadRevision, paths: ReadonlySet<string>): readonly Identity[] {
  const files = loaded.contents.filesByPath.among(paths);
  return files.flatMap(({ content }) => content.declarations.flatMap(({ identity }) => identity ?? []));
}

function withDependants({ loaded }: ReadRevision, begun: ReadonlySet<Identity>): Desired["manifests"] | null {
  const all = new Set(begun);
  // The loop also visits the identities that it adds.
  for (const identity of all) {
    if (all.size > MAX_SINGLE_READS) return null;
    for (const referrer of loaded.referrers().get(identity) ?? []) all.add(referrer);
  }
  return loaded.manifestsByIdentity.among(all);
}
