import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../clock/clock.ts";
import type { Contents, LoadRules } from "../manifests/load-manifests.ts";
import { transformOf } from "../manifests/transform.ts";
import type { SealKey } from "../seal/seal-key.ts";
import { readSealed, writeSealed } from "../seal/sealed-file.ts";
import { defaultLimits } from "../source/limits.ts";
import type { TargetState } from "../state/state.ts";
import { storageErrorAt } from "../store/store-error.ts";
import { NO_SOURCE_FACTS, readSourceFacts, type SourceFacts, writeSourceFacts } from "./source-facts.ts";
import { sourceToKeep } from "./source-to-keep.ts";

/** Keeps the facts about one source in memory, and between runs in a sealed file in the state folder. */
export type SourceCache = {
  /** The facts for these rules. `key` is the key of the state, null if it does not exist yet. */
  readonly load: (rules: LoadRules, key: SealKey | null) => SourceFacts;
  /** Keeps what was read, with the rules and the key of the last `load`. */
  readonly keep: (contents: readonly Contents[]) => void;
  /** Writes the facts that could not be written while the state folder did not exist. */
  readonly store: (key: SealKey) => void;
  /** Releases the facts from memory; the next `load` reads the file again. */
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
  return {
    load: (rules, key) => {
      const name = `source ${root} by ${state.build()} with ${JSON.stringify(fileRules(rules))}`;
      if (kept?.name === name) kept = { ...kept, key };
      else kept = { name, rules, key, facts: key === null ? NO_SOURCE_FACTS : read(key, name), isStored: true };
      return kept.facts;
    },
    keep: (contents) => {
      if (kept === null) return;
      const facts = sourceToKeep(contents, kept.facts, kept.rules);
      if (facts === null) return;
      const { key } = kept;
      kept = { ...kept, facts, isStored: key !== null };
      if (key !== null) write(key, kept);
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
  return { unknownFields, allowLiteralSecrets, transform: transformOf(rules).key, limits: defaultLimits };
}
