import { createHash, verify } from "node:crypto";
import { coordinateBytes, type SshPublicKey } from "./ssh-public-key.ts";
import { base64Bytes, positiveInteger, wireString, wireStrings } from "./ssh-wire.ts";

/** A signature as `ssh-keygen -Y sign` makes it (PROTOCOL.sshsig of OpenSSH). */
export type SshSignature = {
  /** The key that it claims to be of, in base64. */
  readonly blob: string;
  readonly namespace: string;
  readonly hash: "sha256" | "sha512";
  readonly reserved: Buffer;
  /** The algorithm and the signature proper. */
  readonly type: string;
  readonly value: Buffer;
};

const MAGIC = "SSHSIG";
const VERSION = Buffer.of(0, 0, 0, 1);
const BEGIN = "-----BEGIN SSH SIGNATURE-----";
const END = "-----END SSH SIGNATURE-----";
const MAX_SIGNATURES = 100;

/** The signatures of a text; null stands for one that cannot be read, and for text that is none. */
export function readSshSignatures(text: string): readonly (SshSignature | null)[] {
  const [before = "", ...parts] = text.split(BEGIN);
  const signatures = parts.slice(0, MAX_SIGNATURES).map((part) => {
    const [armored = "", after, ...more] = part.split(END);
    const isEnded = after !== undefined && after.trim() === "" && more.length === 0;
    return isEnded ? readSshSignature(armored.replaceAll(/[\r\n]/g, "")) : null;
  });
  return before.trim() === "" && parts.length <= MAX_SIGNATURES ? signatures : [...signatures, null];
}

function readSshSignature(base64: string): SshSignature | null {
  const bytes = base64Bytes(base64);
  const head = Buffer.concat([Buffer.from(MAGIC), VERSION]);
  if (bytes === null || !bytes.subarray(0, head.length).equals(head)) return null;
  const strings = wireStrings(bytes.subarray(head.length));
  if (strings === null || strings.length !== 5) return null;
  const [key, namespace, reserved, hash, signature] = strings as [Buffer, Buffer, Buffer, Buffer, Buffer];
  const [type, value, ...more] = wireStrings(signature) ?? [];
  const hashName = hash.toString("latin1");
  if (type === undefined || value === undefined || more.length > 0) return null;
  if (hashName !== "sha256" && hashName !== "sha512") return null;
  return {
    blob: key.toString("base64"),
    namespace: namespace.toString("latin1"),
    hash: hashName,
    reserved,
    type: type.toString("latin1"),
    value,
  };
}

/** Whether a signature is one of the message, made with this key. */
export function isSignedWith(signature: SshSignature, { blob, type, key }: SshPublicKey, message: string): boolean {
  if (signature.blob !== blob) return false;
  const data = signedData(signature, message);
  switch (type) {
    case "ssh-ed25519":
      return signature.type === type && verify(null, data, key, signature.value);
    case "ssh-rsa": {
      // The old name stands for SHA-1, which is not accepted.
      const hash = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" }[signature.type];
      return hash !== undefined && verify(hash, data, key, signature.value);
    }
    default:
      return signature.type === type && isSignedOnCurve(signature, { type, key }, data);
  }
}

function signedData({ namespace, reserved, hash }: SshSignature, message: string): Buffer {
  const digest = createHash(hash).update(message).digest();
  const parts = [Buffer.from(namespace, "latin1"), reserved, Buffer.from(hash), digest];
  return Buffer.concat([Buffer.from(MAGIC), ...parts.map(wireString)]);
}

function isSignedOnCurve(
  { value }: SshSignature,
  { type, key }: Pick<SshPublicKey, "type" | "key">,
  data: Buffer,
): boolean {
  const bytes = coordinateBytes(type);
  const numbers = wireStrings(value)?.map(positiveInteger) ?? [];
  const [r, s] = numbers;
  if (bytes === null || numbers.length !== 2 || !r || !s || r.length > bytes || s.length > bytes) return false;
  const padded = [r, s].map((number) => Buffer.concat([Buffer.alloc(bytes - number.length), number]));
  const hash = bytes === 32 ? "sha256" : bytes === 48 ? "sha384" : "sha512";
  return verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, Buffer.concat(padded));
}
