import { isDeepStrictEqual } from "node:util";
import { hasErrors } from "../core/diagnostic.ts";
import type { Pace } from "../source/pacer.ts";
import type { RevisionFiles } from "../source/revision.ts";
import { ExactProcess } from "../yaml/read-yaml.ts";
import { checkEverySemantics, hasParent } from "./check-semantics.ts";
import type { Declaration } from "./declaration.ts";
import { diagnosticList, type Refuse } from "./diagnostic-list.ts";
import { type Loaded, type LoadOptions, readAll, readingOf } from "./load-manifests.ts";
import { validManifest } from "./valid-manifest.ts";

/**
 * Loads only the files that differ from an earlier revision, if they declare the same resources with the same
 * references; null if more than their content has changed, so that everything must be loaded.
 */
export async function loadChanged(
  before: Loaded,
  revision: RevisionFiles & { readonly since: NonNullable<RevisionFiles["since"]> },
  options: LoadOptions,
  { clock, signal }: Pace,
): Promise<Loaded | null> {
  if (before.refused.length > 0) return null;
  const { changed } = revision.since;
  const changedFiles = revision.filesByPath.among(changed);
  await using exact = new ExactProcess();
  const reading = readingOf(options, { exact, clock, signal });
  const files = await readAll(changedFiles, reading);
  const earlierFiles = before.contents.filesByPath.among(changed);
  if (earlierFiles.length < files.length || before.contents.files.length !== revision.files.length) return null;
  const declarations = files.flatMap(({ content }) => content.declarations);
  const earlier = earlierFiles.flatMap(({ content }) => content.declarations);
  if (!isDeepStrictEqual(declarations.map(nodeOf), earlier.map(nodeOf))) return null;
  const valid = declarations.flatMap((declaration) => validManifest(declaration, before) ?? []);
  // Checks of other manifests may depend on one without a parent, such as their cluster.
  if (valid.length < declarations.length || !valid.every(hasParent)) return null;
  const found = diagnosticList();
  const refused: string[] = [];
  const refuse: Refuse = (identity) => void refused.push(identity);
  const checking = { now: options.now, add: found.add, refuse, reading };
  const checks = await checkEverySemantics(valid, checking, before.manifestsByIdentity);
  if (refused.length > 0) return null;
  const displays = new Set<string | null>(files.map(({ file }) => file.display));
  for (const one of before.diagnostics) if (!displays.has(one.file)) found.add(one);
  for (const one of revision.diagnostics) if (displays.has(one.file)) found.add(one);
  for (const { diagnostics } of files) for (const one of diagnostics) found.add(one);
  const diagnostics = found.all();
  if (hasErrors(diagnostics)) return null;
  const manifestsByIdentity = before.manifestsByIdentity.withReplaced(valid);
  const filesByPath = before.contents.filesByPath.withReplaced(files);
  return {
    ...before,
    manifests: manifestsByIdentity.list,
    manifestsByIdentity,
    diagnostics,
    contents: { at: revision.at, files: filesByPath.list, filesByPath, checks },
  };
}

// The parts of a declaration that other declarations depend on.
function nodeOf({ identity, references, isValid }: Declaration): unknown {
  return isValid ? [identity, references] : null;
}
