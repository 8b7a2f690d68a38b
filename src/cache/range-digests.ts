import { contentDigest } from "../contract/content-digest.ts";
import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import type { Access } from "../core/access.ts";

/** What a control plane says of all resources whose identities begin with some prefix (E15). */
export type RangeState = {
  readonly count: number;
  /** The same text for as long as nothing in the range changes, for one caller with the same rights. */
  readonly state: string;
};

/**
 * Reads the digests of the ranges directly below a prefix, by their prefixes. Ranges without resources have none; neither
 * has any range if the reply contradicts itself.
 */
export function rangeDigests(reply: unknown, prefix: string, caller: Access): ReadonlyMap<string, RangeState> {
  if (!isObject(reply) || !Array.isArray(reply.children)) return new Map();
  const found = new Map<string, RangeState>();
  let sum = 0;
  for (const child of reply.children) {
    if (!isObject(child)) return new Map();
    const { digest, count } = child;
    const range = text(child.prefix) ?? "";
    const isBelow = range.startsWith(prefix) && /^[^/:]+[/:]$/.test(range.slice(prefix.length));
    if (!isCount(count) || !text(digest) || !isBelow || found.has(range)) return new Map();
    found.set(range, stateOf(range, { caller, count, digest }));
    sum += count;
  }
  return sum === reply.count ? found : new Map();
}

/** Reads the digest of a range itself; null if the reply has none. */
export function rangeDigest(reply: unknown, range: string, caller: Access): RangeState | null {
  if (!isObject(reply) || !isCount(reply.count) || !text(reply.digest)) return null;
  return stateOf(range, { caller, count: reply.count, digest: reply.digest });
}

type Said = { readonly caller: Access; readonly count: number; readonly digest: Json | undefined };

function stateOf(range: string, { caller, count, digest }: Said): RangeState {
  return { count, state: contentDigest(JSON.stringify([caller, range, count, digest])) };
}

function isCount(value: JsonObject[string] | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
