import { Secret } from "../../../contract/secret.ts";
import type { KeyRing } from "../../../seal/key.ts";
import { seal, unsealWithAny } from "../../../seal/seal.ts";

/** The row that a value is kept in: it opens there alone. */
export type SecretValueKey = { readonly secretId: string; readonly version: number };

/** The value of a secret as it is kept. */
export function sealValue({ newest }: KeyRing, place: SecretValueKey, value: Secret): string {
  return seal(newest, value.open(), valueAssociatedData(place)).toString("base64");
}

/** The value that was sealed. */
export function unsealValue({ all }: KeyRing, place: SecretValueKey, sealed: string): Secret {
  return new Secret(unsealWithAny(all, Buffer.from(sealed, "base64"), valueAssociatedData(place)).toString("utf8"));
}

/** What a value is sealed with besides the key. */
export function valueAssociatedData({ secretId, version }: SecretValueKey): string {
  return `secret:${secretId}:${version}`;
}
