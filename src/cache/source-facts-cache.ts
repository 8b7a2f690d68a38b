import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Contents, LoadRules } from "../manifests/load-manifests.ts";
import type { SealKey } from "../seal/seal-key.ts";
import { readSealed, writeSealed } from "../seal/sealed-file.ts";
import { defaultLimits } from "../source/limits.ts";
import type { StateLocation } from "../state/state.ts";
import { storageErrorAt } from "../store/store-error.ts";
import { NO_SOURCE_FACTS, readSourceFacts, type SourceFacts, writeSourceFacts } from "./source-facts.ts";
import { sourceToKeep } from "./source-to-keep.ts";

/** Keeps the facts of one source in memory, and between runs in a sealed file beside the state. */
export type SourceCache = {
  /** The facts by these rules, sealed with the key of the state; null where there is none yet. */
  readonly load: (rules: LoadRules, key: SealKey | null) => SourceFacts;
  /** Keeps what was read, by the rules and with the key that were given last. */
  readonly keep: (contents: readonly Contents[]) => void;
  /** Writes what could not be written while there was no state folder. */
  readonly store: (key: SealKey) => void;
  /** Lets go of what is in memory; should it be loaded again, the file is read again. */
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
 * The cache of a source, for this build and one set of rules at a time: what cannot be read, or was kept by another build
 * or other rules, counts as nothing.
 */
export function sourceCache(root: string, state: Pick<StateLocation, "folder" | "build" | "onForgotten">): SourceCache {
  const place = createHash("sha256").update(root).digest("hex").slice(0, 16);
  const path = join(state.folder, "cache", `source-${place}`);
  let kept: Kept | null = null;
  const write = (key: SealKey, { name, facts }: Kept): void => {
    const failure = writeSealed(path, key, name, writeSourceFacts(facts));
    if (failure !== null) state.onForgotten("what was read of the source", storageErrorAt(path, failure));
  };
  const read = (key: SealKey, name: string): SourceFacts => {
    const text = readSealed(path, key, name);
    return text === null ? NO_SOURCE_FACTS : readSourceFacts(text);
  };
  return {
    load: (rules, key) => {
      const name = `source ${root} by ${state.build()} with ${JSON.stringify(rulesOfFile(rules))}`;
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

// Everything that reading one file depends on, besides its content.
function rulesOfFile({ unknownFields, allowLiteralSecrets, defaults }: LoadRules): unknown {
  return { unknownFields, allowLiteralSecrets, defaults, limits: defaultLimits };
}
