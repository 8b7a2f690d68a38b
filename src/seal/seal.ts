// src/seal: encryption of what is stored. See docs/operations.md#keys.

// biome-ignore-all lint/plugin: a nonce must never repeat under one key
import { type CipherGCM, createCipheriv, createDecipheriv, randomFillSync } from "node:crypto";
import { requireInvariant } from "../contract/invariant.ts";
import { releaseBuffer } from "../contract/release-buffer.ts";
import { keyObject, type SealKey } from "./seal-key.ts";

const FORMAT = 1;
const FORMAT_BYTE = Buffer.of(FORMAT);
const VERSION_BYTES = 4;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + VERSION_BYTES + NONCE_BYTES;

/** Why a sealed value cannot be unsealed. */
export class SealError extends Error {
  override readonly name = "SealError";
  readonly code: "malformed" | "other-key" | "tampered";

  constructor(code: SealError["code"], message: string, { cause }: { readonly cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/** Encrypts with AES-256-GCM and a random nonce; unsealing needs the same key and associated data. */
export function seal(key: SealKey, plaintext: string | Buffer, aad: string): Buffer {
  const { head, cipher } = begin(key, aad);
  const content = typeof plaintext === "string" ? cipher.update(plaintext, "utf8") : cipher.update(plaintext);
  const rest = cipher.final();
  const size = Buffer.byteLength(plaintext);
  requireInvariant(content.length === size && rest.length === 0, "seal", "what is sealed is as long as what was given");
  // A buffer outside Node's pool: a value in the pool that stays in memory would keep the pool's 64 kB in memory too.
  const sealed = Buffer.allocUnsafeSlow(HEAD_BYTES + content.length + TAG_BYTES);
  head.copy(sealed);
  content.copy(sealed, HEAD_BYTES);
  cipher.getAuthTag().copy(sealed, HEAD_BYTES + content.length);
  releaseBuffer(content);
  return sealed;
}

/** The output of `seal` in chunks, as the plaintext arrives. */
export function* sealChunks(key: SealKey, plaintext: Iterable<string>, aad: string): Generator<Buffer> {
  const { head, cipher } = begin(key, aad);
  yield head;
  for (const piece of plaintext) yield cipher.update(piece, "utf8");
  yield cipher.final();
  yield cipher.getAuthTag();
}

function begin(key: SealKey, aad: string): { readonly head: Buffer; readonly cipher: CipherGCM } {
  const nonce = freshNonce();
  const head = Buffer.concat([FORMAT_BYTE, Buffer.from(key.version, "hex"), nonce]);
  const cipher = createCipheriv("aes-256-gcm", keyObject(key), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.concat([head, Buffer.from(aad)]));
  return { head, cipher };
}

// Generated 512 at a time: one call for each nonce would take a third of the time that sealing does.
const nonces = Buffer.alloc(512 * NONCE_BYTES);
let taken = nonces.length;

function freshNonce(): Buffer {
  if (taken === nonces.length) {
    randomFillSync(nonces);
    taken = 0;
  }
  taken += NONCE_BYTES;
  return nonces.subarray(taken - NONCE_BYTES, taken);
}

/** Decrypts what `seal` encrypted; `aad` must be the same. */
export function unseal(key: SealKey, sealed: Uint8Array, aad: string): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const version = sealedVersion(bytes);
  if (version !== key.version) throw new SealError("other-key", `sealed with key ${version}, not with ${key.version}`);
  const head = bytes.subarray(0, HEAD_BYTES);
  const nonce = head.subarray(1 + VERSION_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", keyObject(key), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.concat([head, Buffer.from(aad)]));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  const content = decipher.update(bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES));
  try {
    // Checks the authentication tag.
    decipher.final();
    return content;
  } catch (cause) {
    throw new SealError("tampered", "the sealed value was changed, or belongs to another row", { cause });
  }
}

/** The output of `seal` as base64, for a column of text. */
export function sealText(key: SealKey, plaintext: string | Buffer, aad: string): string {
  return seal(key, plaintext, aad).toString("base64");
}

/** Unseals what `sealText` made, with the one of these keys that it was sealed with. */
export function unsealText(keys: readonly SealKey[], text: string, aad: string): Buffer {
  const sealed = Buffer.from(text, "base64");
  const version = sealedVersion(sealed);
  const key = keys.find((candidate) => candidate.version === version);
  if (key === undefined) throw new SealError("other-key", `sealed with key ${version}, which is not available`);
  return unseal(key, sealed, aad);
}

/** The version of the key that a value was sealed with. */
export function sealedVersion(sealed: Uint8Array): string {
  if (sealed.length < HEAD_BYTES + TAG_BYTES || sealed[0] !== FORMAT) {
    throw new SealError("malformed", "this is not a sealed value");
  }
  return Buffer.from(sealed.subarray(1, 1 + VERSION_BYTES)).toString("hex");
}
