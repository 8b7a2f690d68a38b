import { createHmac } from "node:crypto";
import { canonical } from "../../contract/json.ts";
import type { HeldContents } from "../../core/holds.ts";
import type { Identity } from "../../core/manifest.ts";
import { readManifests } from "../../manifests/read-manifests.ts";
import { deriveKey, keyObject, type SealKey } from "../../seal/seal-key.ts";
import type { Pace } from "../../source/pacer.ts";
import type { DesiredRead } from "../load.ts";

/** Computes the digests of the manifests of resources. They are keyed, since manifests may hold secrets. */
export async function heldContents(
  { manifests, desired: { revision, invalid } }: DesiredRead,
  identities: readonly Identity[],
  { key, ...pace }: Pace & { readonly key: SealKey },
): Promise<HeldContents> {
  const wanted = new Set(identities);
  const digestKey = keyObject(deriveKey(key, "held manifest"));
  const read = await readManifests(
    manifests.filter(({ identity }) => wanted.has(identity)),
    pace,
  );
  const found = new Map(read.map(({ identity, value }) => [identity, canonical(value)]));
  const contentOf = (identity: Identity): string | null => {
    const text = found.get(identity);
    return text === undefined ? null : createHmac("sha256", digestKey).update(text).digest("base64url");
  };
  const valid = identities.filter((identity) => !invalid.has(identity));
  return { revision, contents: new Map(valid.map((identity) => [identity, contentOf(identity)])) };
}
