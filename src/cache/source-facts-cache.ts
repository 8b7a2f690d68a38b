import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../clock/clock.ts";
import type { Contents, LoadOptions, LoadRules } from "../manifests/load-manifests.ts";
import { transformKey } from "../manifests/transform.ts";
import type { SealKey } from "../seal/seal-key.ts";
import { readSealed, writeSealed } from "../seal/sealed-file.ts";
import { type FileState, isUntouched } from "../source/file-stamp.ts";
import { defaultLimits } from "../source/limits.ts";
import type { SourceFile } from "../source/revision.ts";
import type { TargetState } from "../state/state.ts";
import { storageErrorAt } from "../store/store-error.ts";
import { contentKey, type FileOutline, outlineOf } from "./file-outline.ts";
import { NO_SOURCE_FACTS, readSourceFacts, type SourceFacts, writeSourceFacts } from "./source-facts.ts";
import { indexFrom, type SourceIndex } from "./source-index.ts";

/** Keeps the facts about one source in memory, and between runs in a sealed file in the state folder. */
export type SourceCache = {
  /** The index with the facts for these rules. `key` is the key of the state, null if it does not exist yet. */
  readonly open: (options: LoadOptions, key: SealKey | null) => SourceIndex;
  /** Writes the facts that could not be written while the state folder did not exist. */
  readonly store: (key: SealKey) => void;
  /** Releases the facts from memory; the next `open` reads the file again. */
  readonly release: () => void;
};

type Kept = {
  readonly name: string;
  readonly rules: LoadRules;
  readonly key: SealKey | null;
  readonly facts: SourceFacts;
  readonly isStored: boolean;
};

/**
 * The cache of a source, for this build and one set of rules at a time. A file that cannot be read, or was written by
 * another build or with other rules, is ignored.
 */
export function sourceCache(
  root: string,
  state: Pick<TargetState, "folder" | "build" | "onForgotten">,
  clock: Clock,
): SourceCache {
  const digest = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const path = join(state.folder, "cache", `source-${digest}`);
  let kept: Kept | null = null;
  const write = (key: SealKey, { name, facts }: Kept): void => {
    const failure = writeSealed(path, { key, name, clock }, writeSourceFacts(facts));
    if (failure !== null) state.onForgotten("what was read of the source", storageErrorAt(path, failure));
  };
  const read = (key: SealKey, name: string): SourceFacts => {
    const text = readSealed(path, key, name);
    return text === null ? NO_SOURCE_FACTS : readSourceFacts(text);
  };
  const keep: SourceIndex["keep"] = ({ loaded }, base) => {
    if (kept === null) return;
    const contents = base === null ? [loaded.contents] : [loaded.contents, base.contents];
    const facts = sourceToKeep(contents, kept.facts, kept.rules);
    if (facts === null) return;
    const { key } = kept;
    kept = { ...kept, facts, isStored: key !== null };
    if (key !== null) write(key, kept);
  };
  return {
    open: (options, key) => {
      const { rules } = options;
      const name = `source ${root} by ${state.build()} with ${JSON.stringify(fileRules(rules))}`;
      if (kept?.name === name) kept = { ...kept, key };
      else kept = { name, rules, key, facts: key === null ? NO_SOURCE_FACTS : read(key, name), isStored: true };
      return indexFrom(kept.facts, options, keep);
    },
    store: (key) => {
      if (kept === null || kept.isStored) return;
      kept = { ...kept, isStored: true };
      write(key, kept);
    },
    release: () => {
      kept = null;
    },
  };
}

// Everything that reading one file depends on, apart from its content.
function fileRules({ unknownFields, allowLiteralSecrets, ...rules }: LoadRules): unknown {
  return { unknownFields, allowLiteralSecrets, transform: transformKey(rules), limits: defaultLimits };
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
