import { Secret } from "../../../contract/secret.ts";
import { seal, unsealWithAny } from "../../../seal/seal.ts";
import type { KeyRing } from "../../../seal/seal-key.ts";

/** The row of a value: it can only be unsealed for this row. */
export type SecretValueKey = { readonly secretId: string; readonly version: number };

/** Seals a value of a secret for storage. */
export function sealValue({ newest }: KeyRing, place: SecretValueKey, value: Secret): string {
  return seal(newest, value.open(), valueAssociatedData(place)).toString("base64");
}

/** Unseals a stored value. */
export function unsealValue({ all }: KeyRing, place: SecretValueKey, sealed: string): Secret {
  return new Secret(unsealWithAny(all, Buffer.from(sealed, "base64"), valueAssociatedData(place)).toString("utf8"));
}

/** The associated data of a sealed value. */
export function valueAssociatedData({ secretId, version }: SecretValueKey): string {
  return `secret:${secretId}:${version}`;
}
