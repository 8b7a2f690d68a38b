import { isDeepStrictEqual } from "node:util";
import type { Identity } from "../core/manifest.ts";
import { type Contents, type Loaded, type LoadOptions, loadManifests } from "../manifests/load-manifests.ts";
import type { SourceManifest } from "../manifests/source-manifest.ts";
import type { KnownFiles } from "../source/file-stamp.ts";
import type { Pace } from "../source/pacer.ts";
import type { Revision } from "../source/read-source.ts";
import type { RevisionFiles } from "../source/revision.ts";
import { knownContent } from "./file-outline.ts";
import { loadChanged } from "./load-changed.ts";
import { NO_SOURCE_FACTS, type SourceFacts } from "./source-facts.ts";

/** A revision, and what it declares. The next one is compared with it. */
export type IndexedRevision = {
  readonly revision: Revision;
  readonly loaded: Loaded;
  /** How many of its files were not parsed, since their contents were known. */
  readonly known: number;
  /** Whether only the files that differ from an earlier revision were read. */
  readonly isPart: boolean;
  readonly options: LoadOptions;
};

/** What is known of a source by the content of its files, for one set of rules. */
export type SourceIndex = {
  /** The files whose contents are known as long as nobody touches them. */
  readonly knownFiles: KnownFiles;
  /** Reads what has changed since an earlier revision; without one, all files whose contents are not known. */
  readonly update: (before: IndexedRevision | null, revision: Revision, pace: Pace) => Promise<IndexedRevision>;
  /** Reads files that no later revision is compared with. */
  readonly load: (files: RevisionFiles, pace: Pace) => Promise<Loaded>;
  /** Keeps what was read of a revision, and of the base that it is compared with, for the next process. */
  readonly keep: (indexed: IndexedRevision, base: Loaded | null) => void;
};

/** The index of a source of which nothing is known or kept. */
export function emptyIndex(options: LoadOptions): SourceIndex {
  return indexFrom(NO_SOURCE_FACTS, options, () => undefined);
}

/** The index of a source of which these facts are known. */
export function indexFrom(facts: SourceFacts, options: LoadOptions, keep: SourceIndex["keep"]): SourceIndex {
  const reading = { ...options, knownContent: knownContent(facts.outlines, options) };
  const load = (files: RevisionFiles, pace: Pace): Promise<Loaded> => loadManifests(files, reading, pace);
  return {
    knownFiles: facts,
    load,
    update: async (before, revision, pace) => {
      const part = before && (await updated(before, revision, reading, pace));
      const loaded = part ?? (await load(revision, pace));
      const isPart = part !== null;
      return { revision, loaded, options, isPart, known: isPart ? notReadIn(revision) : knownIn(loaded) };
    },
    // The next process reads the few files again that an update has read: writing all facts would take longer.
    keep: (indexed, base) => (indexed.isPart ? undefined : keep(indexed, base)),
  };
}

function knownIn({ contents }: Loaded): number {
  return contents.files.filter(({ wasParsed }) => !wasParsed).length;
}

function notReadIn({ files, since }: RevisionFiles): number {
  return files.length - (since?.changed.size ?? 0);
}

// While the rules and the date stay the same, unchanged files keep their manifests and diagnostics.
async function updated(
  before: IndexedRevision,
  revision: Revision,
  options: LoadOptions,
  pace: Pace,
): Promise<Loaded | null> {
  const { since } = revision;
  if (since === undefined || since.commit !== before.revision.commit) return null;
  if (dayOf(before.options) !== dayOf(options) || !isDeepStrictEqual(before.options.rules, options.rules)) return null;
  const isSame = since.changed.size === 0 && revision.commit === since.commit;
  return isSame ? before.loaded : loadChanged(before, { ...revision, since }, options, pace);
}

function dayOf({ now }: LoadOptions): string {
  return now.toISOString().slice(0, 10);
}

/**
 * The resources that a revision declares in files that differ from an earlier one; null where that is not known, or where it
 * no longer declares a resource.
 */
export function changesSince(
  before: IndexedRevision,
  { revision, loaded }: IndexedRevision,
): ReadonlySet<Identity> | null {
  const changed = changedPaths(before.revision, revision);
  if (changed === null) return null;
  const { declared } = loaded;
  if (before.loaded.declared !== declared && !before.loaded.declared.isSubsetOf(declared)) return null;
  const files = loaded.contents.filesByPath.among(changed);
  const inFiles = files.flatMap(({ content }) => content.declarations.flatMap(({ identity }) => identity ?? []));
  return new Set([...inFiles, ...patchedAnew(before.loaded, loaded)]);
}

/** The resources that patches match which have changed, or no longer match them. */
function patchedAnew({ contents: before }: Loaded, { contents }: Loaded): readonly Identity[] {
  if (contents.patches === before.patches) return [];
  const [was, is] = [before, contents].map(patchKeys);
  if (was === undefined || is === undefined) return [];
  return [...new Set([...was.keys(), ...is.keys()])].filter((identity) => was.get(identity) !== is.get(identity));
}

function patchKeys({ files }: Contents): ReadonlyMap<Identity, string> {
  const keys = new Map<Identity, string>();
  for (const { content } of files) {
    for (const { identity, patched } of content.declarations) {
      if (identity !== null && patched !== undefined) keys.set(identity, patched.key);
    }
  }
  return keys;
}

function changedPaths(before: RevisionFiles, revision: RevisionFiles): ReadonlySet<string> | null {
  if (revision === before) return new Set();
  const { since, files } = revision;
  if (since !== undefined) return since.commit === before.commit ? since.changed : null;
  // Where all files were read again, their blob ids show the changes; without blob ids, nothing does.
  if (files.some(({ blob }) => blob === null)) return null;
  const known = new Set(before.files.map(({ path, blob }) => `${blob} ${path}`));
  return new Set(files.flatMap(({ path, blob }) => (known.has(`${blob} ${path}`) ? [] : [path])));
}

/** The manifests of resources, and of all that refer to one of them; null for more than `most`. */
export function withDependants(
  identities: ReadonlySet<Identity>,
  { loaded }: IndexedRevision,
  most: number,
): readonly SourceManifest[] | null {
  const all = new Set(identities);
  // The loop also visits the identities that it adds.
  for (const identity of all) {
    if (all.size > most) return null;
    for (const referrer of loaded.referrers().get(identity) ?? []) all.add(referrer);
  }
  return loaded.manifestsByIdentity.among(all);
}
