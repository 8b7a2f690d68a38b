import type { Contents, KnownContent, LoadOptions, LoadRules } from "../manifests/load-manifests.ts";
import { transformOf } from "../manifests/transform.ts";
import { isUntouched } from "../source/file-stamp.ts";
import type { FileState } from "../source/known-files.ts";
import type { SourceFile } from "../source/revision.ts";
import { formatOf } from "../yaml/document.ts";
import { contentFromOutline } from "./content-from-outline.ts";
import { type FileOutline, outlineOf } from "./file-outline.ts";
import type { SourceFacts } from "./source-facts.ts";

/** Returns what a file contributes if its content is known; null if it must be read. */
export function knownContent(
  { outlines }: SourceFacts,
  { rules, limits }: LoadOptions,
): (file: SourceFile) => KnownContent | null {
  const reading = { limits, transform: transformOf(rules) };
  return (file) => {
    const outline = outlines.get(contentKey(file, rules) ?? "");
    return outline === undefined ? null : contentFromOutline(file, outline, reading);
  };
}

/** The facts about a source, in a folder or in commits, to keep for the next pass; null if they have not changed. */
export function sourceToKeep(loaded: readonly Contents[], before: SourceFacts, rules: LoadRules): SourceFacts | null {
  const folder = loaded.find(({ files }) => files.some(({ file }) => file.stamp !== null));
  const hasAllFiles = folder === undefined || folder.files.length === before.files.size;
  if (hasAllFiles && loaded.every((contents) => isKnown(contents, before))) return null;
  const outlines = new Map<string, FileOutline>();
  for (const contents of loaded) {
    for (const read of contents.files) {
      const key = contentKey(read.file, rules);
      const known = read.wasParsed ? outlineOf(read) : (before.outlines.get(key ?? "") ?? null);
      const outline = known && withChecks(known, contents.checks);
      if (key !== null && outline !== null) outlines.set(key, outline);
    }
  }
  const files = folder === undefined ? before.files : filesNow(folder, before);
  if (hasSame(before.outlines, outlines) && hasSame(before.files, files)) return null;
  return { at: folder?.at ?? before.at, files, outlines };
}

// Outlines of contents that no longer exist stay until the next change.
function isKnown({ files, checks }: Contents, before: SourceFacts): boolean {
  if (checks.size > 0) return false;
  return files.every(({ file, wasParsed }) => {
    return !wasParsed && (file.stamp === null || stateNow(file, before) === before.files.get(file.path));
  });
}

// With `allowLiteralSecrets`, the path of a file decides what it may contain.
function contentKey({ path, digest }: SourceFile, { allowLiteralSecrets = [] }: LoadRules): string | null {
  if (digest === null) return null;
  return allowLiteralSecrets.length > 0 ? `${path} ${digest}` : `${formatOf(path)} ${digest}`;
}

function withChecks(outline: FileOutline, checks: Contents["checks"]): FileOutline {
  if (!outline.declarations.some(({ identity }) => checks.has(identity))) return outline;
  const declarations = outline.declarations.map((one) => {
    const checkedBy = checks.get(one.identity);
    return checkedBy === undefined ? one : { ...one, checkedBy };
  });
  return { ...outline, declarations };
}

function filesNow({ files }: Contents, before: SourceFacts): ReadonlyMap<string, FileState> {
  const states = new Map<string, FileState>();
  for (const { file } of files) {
    const state = stateNow(file, before);
    if (state !== null) states.set(file.path, state);
  }
  return states;
}

function stateNow({ path, stamp, digest, blob }: SourceFile, { files, at }: SourceFacts): FileState | null {
  if (stamp === null || digest === null) return null;
  const known = files.get(path);
  const isSame = known?.digest === digest && known.blob === blob && isUntouched(stamp, known.stamp, at);
  return isSame ? known : { stamp, digest, blob };
}

function hasSame<Value>(before: ReadonlyMap<string, Value>, now: ReadonlyMap<string, Value>): boolean {
  return before.size === now.size && now.entries().every(([key, value]) => before.get(key) === value);
}
