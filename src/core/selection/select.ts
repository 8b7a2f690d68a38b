// src/core/selection: the part of a source that a command selects. See docs/plan.md#exit-codes-for-a-pipeline.

import { globMatcher, hasWildcard } from "../../model/glob.ts";
import { requirementsOf } from "../graph.ts";
import type { Identity, ManifestHead } from "../manifest.ts";

/** The part of a source that a command applies to. */
export type Selection = {
  /** Files and folders, relative to the working directory; all when empty. */
  readonly paths: readonly string[];
  /** Identities, or globs over them. */
  readonly only: readonly string[];
  readonly kinds: readonly string[];
  /** Globs over identities. */
  readonly exclude: readonly string[];
};

/** The selection of a whole source. */
export const WHOLE_SOURCE: Selection = { paths: [], only: [], kinds: [], exclude: [] };

/** Whether the selection includes the whole source. */
export function isEverything({ paths, only, kinds, exclude }: Selection): boolean {
  return paths.length + only.length + kinds.length + exclude.length === 0;
}

/** The selected manifests and everything that they refer to. */
export function select<One extends ManifestHead>(manifests: readonly One[], selection: Selection): readonly One[] {
  if (isEverything(selection)) return manifests;
  const chosen = selectNamed(manifests, selection).map(({ identity }) => identity);
  const needed = requirementsOf(manifests, chosen);
  const all = new Set([...chosen, ...needed]);
  return manifests.filter(({ identity }) => all.has(identity));
}

/** The manifests that the selection itself names, without their references. */
export function selectNamed<Item extends Choosable>(items: readonly Item[], selection: Selection): readonly Item[] {
  const excluded = selection.exclude.map(globMatcher);
  const only = namesMatcher(selection.only);
  return items.filter(
    (item) => isChosen(item, selection) && only(item.identity) && !excluded.some((matches) => matches(item.identity)),
  );
}

type Choosable = { readonly identity: Identity; readonly kind: string; readonly file: string };

/** The parts of a selection that match nothing, probably typing errors. */
export function unmatched(
  declared: ReadonlySet<Identity>,
  { only, paths }: Selection,
  knownFiles: readonly string[],
): readonly string[] {
  return [
    ...only.filter((name) => !declared.has(name) && !declared.keys().some(globMatcher(name))),
    ...paths.filter((path) => !knownFiles.some((file) => isUnder(path, file))),
  ];
}

// An identity may contain the characters of a glob, so it matches itself first.
function namesMatcher(only: readonly string[]): (identity: Identity) => boolean {
  if (only.length === 0) return () => true;
  const names = new Set(only);
  const globs = only.filter(hasWildcard).map(globMatcher);
  return (identity) => names.has(identity) || globs.some((matches) => matches(identity));
}

function isChosen({ kind, file }: Choosable, { paths, kinds }: Selection): boolean {
  if (paths.length > 0 && !paths.some((path) => isUnder(path, file))) return false;
  return kinds.length === 0 || kinds.includes(kind);
}

/** Whether a file is the path, or is below it. */
export function isUnder(path: string, file: string): boolean {
  const folder = path.replace(/^\.\//, "").replace(/\/+$/, "");
  return folder === "." || folder === "" || file === folder || file.startsWith(`${folder}/`);
}
