// src/core/import: live as manifests. See docs/import.md.

import { createHash } from "node:crypto";
import { type Kinds, kindIn } from "../kind.ts";
import { type Identity, splitIdentity } from "../manifest.ts";

/**
 * The file of each resource, relative to the folder of an import. Whatever the names are, the files lie in that folder, no
 * two of them differ only by case, and every system and every reader of a source accepts their names.
 */
export function manifestPaths(identities: Iterable<Identity>, kinds: Kinds): ReadonlyMap<Identity, string> {
  const named = [...identities].map((identity) => ({ identity, path: pathOf(identity, kinds) }));
  const taken = Map.groupBy(named, ({ path }) => path.toLowerCase());
  return new Map(
    named.map(({ identity, path }) => {
      const isAlone = taken.get(path.toLowerCase())?.length === 1;
      return [identity, `${isAlone ? path : `${path}~${digestOf(identity)}`}.yaml`];
    }),
  );
}

function pathOf(identity: Identity, kinds: Kinds): string {
  const { kind, key } = splitIdentity(identity);
  const places = kindIn(kinds, identity)?.place?.(key) ?? [`${kind}s`, ...key.split("/")];
  // A source is read to a limited depth.
  const [rest, kept] = [places.slice(DEEPEST - 1), places.slice(0, DEEPEST - 1)];
  return [...kept, ...(rest.length === 0 ? [] : [rest.join("/")])].map(fileName).join("/");
}

const DEEPEST = 4;
const LONGEST = 100;
/** Names that mean a device on Windows, with any ending. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Names that readers of a source pass over. */
const SKIPPED = /^(?:\.|node_modules$|holdfast(?:\.|$))/;

// The names that control planes accept stay as they are. Everything else is written as in an address: also what ends like a
// file, since a folder of that name could stand in the way of one.
function fileName(name: string): string {
  const encoded = name.replaceAll(/[^\w.+@=-]/gu, percent).replace(/\.(?=$|ya?ml$|json$)/i, percent);
  const safe = DEVICE.test(encoded) || SKIPPED.test(encoded) ? encoded.replace(/^./, percent) : encoded;
  if (safe === "") return "%";
  return safe.length <= LONGEST ? safe : `${safe.slice(0, LONGEST)}~${digestOf(name)}`;
}

function percent(character: string): string {
  return [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

function digestOf(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest("hex").slice(0, 8);
}
