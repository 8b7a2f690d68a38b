import { HoldfastError } from "../core/errors.ts";
import { shrinkGuard } from "../core/guard.ts";
import type { Identity } from "../core/manifest.ts";
import type { ServerMemory } from "./memory.ts";
import type { Rules } from "./target.ts";

/** Refuses to act on a source that has lost too much, unless the operator says that it is meant. */
export function requireUnshrunk(
  memory: ServerMemory,
  recorded: ReadonlyMap<Identity, unknown>,
  declared: ReadonlySet<Identity>,
  { allowShrink, guards }: Rules,
): void {
  if (allowShrink) {
    memory.released = new Set([...recorded.keys()].filter((identity) => !declared.has(identity)));
    return;
  }
  const counted = [...recorded.keys()].filter((identity) => declared.has(identity) || !memory.released.has(identity));
  const shrunk = shrinkGuard(counted, declared, guards);
  if (shrunk === null) return;
  throw new HoldfastError("refused", shrunk, {
    hint: "nothing is written until it is whole again; if that is meant, run with --allow-shrink",
  });
}
