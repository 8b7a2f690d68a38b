import { join } from "node:path";
import type { HoldfastConfig } from "../contract/generated/config.ts";
import { type SourceMemory, sourceMemory } from "../manifests/memory.ts";
import type { SealKey } from "../seal/key.ts";
import { defaultLimits } from "../source/limits.ts";
import { existingKey } from "../state/open.ts";
import { unusableAt } from "../store/store-error.ts";
import { buildOf } from "./build.ts";
import { tellForgotten } from "./forgotten.ts";
import { readStateKey } from "./state-key.ts";
import type { Terminal } from "./terminal.ts";

/** A source whose reading is remembered in a state folder. */
export type Remembering = {
  readonly root: string;
  readonly state: string;
  readonly rules: Pick<HoldfastConfig, "unknownFields" | "allowLiteralSecrets">;
};

/** The memory of a source; null while there is no state folder, which reading a source does not make. */
export async function rememberedIn(remembering: Remembering, terminal: Terminal): Promise<SourceMemory | null> {
  const key = await existingKey(remembering.state, { keyText: readStateKey(terminal) });
  return key === null ? null : memoryWith(key, remembering, terminal);
}

/** The memory of a source in a state folder with this key. */
export function memoryWith(key: SealKey, { root, state, rules }: Remembering, terminal: Terminal): SourceMemory {
  const { unknownFields, allowLiteralSecrets } = rules;
  const tell = tellForgotten(terminal);
  return sourceMemory(join(state, "cache"), root, key, {
    build: buildOf(terminal.program),
    rules: { unknownFields, allowLiteralSecrets, limits: defaultLimits },
    onLost: (path, error) => tell("what was read of the source", unusableAt(path, error)),
  });
}
