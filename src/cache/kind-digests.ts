import { contentDigest } from "../contract/content-digest.ts";
import { isObject, type JsonObject, text } from "../contract/json.ts";
import type { Access } from "../core/access.ts";

/** What a control plane says of all its resources of one kind (E15). */
export type KindDigest = {
  readonly count: number;
  /** The same text for as long as nothing of the kind changes, for one caller with the same rights. */
  readonly state: string;
};

/**
 * Reads the digest of each kind from the digest of all resources. Kinds without resources have none; neither has any
 * kind if the reply contradicts itself.
 */
export function kindDigests(reply: unknown, caller: Access): ReadonlyMap<string, KindDigest> {
  if (!isObject(reply) || !Array.isArray(reply.children)) return new Map();
  const found = new Map<string, KindDigest>();
  let sum = 0;
  for (const child of reply.children) {
    if (!isObject(child)) return new Map();
    const { digest, count, prefix } = child;
    const kind = /^([^/:]+)\/$/.exec(text(prefix) ?? "")?.[1];
    if (!isCount(count) || !text(digest) || kind === undefined || found.has(kind)) return new Map();
    found.set(kind, { count, state: contentDigest(JSON.stringify([caller, kind, count, digest])) });
    sum += count;
  }
  return sum === reply.count ? found : new Map();
}

function isCount(value: JsonObject[string] | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
