// src/engine/load: the phase that reads what a revision declares. See docs/architecture.md#a-pass.

import { isDeepStrictEqual } from "node:util";
import { changesSince, withDependants } from "../../cache/source-index.ts";
import type { DesiredRead } from "../load.ts";
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
  if (!desired.isWhole || !isDeepStrictEqual(rules, before.rules)) return null;
  const changed = changesSince(before.from, from);
  const manifests = changed && withDependants(unfinished.union(changed), from, MAX_SINGLE_READS);
  if (manifests === null) return null;
  return { ...desired, manifests, isWhole: false, outOfScope: desired.manifests.length - manifests.length };
}
