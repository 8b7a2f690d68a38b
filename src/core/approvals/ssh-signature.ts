import { createHash, verify } from "node:crypto";
import { coordinateBytes, innerKeyType, type SshPublicKey } from "./ssh-public-key.ts";
import { base64Bytes, positiveInteger, wireStart, wireString, wireStrings } from "./ssh-wire.ts";

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
  /** Flags and counter of the FIDO device (PROTOCOL.u2f of OpenSSH); empty for other keys. */
  readonly device: Buffer;
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
  const { strings: [type, value] = [], rest: device } = wireStart(signature, 2) ?? {};
  const hashName = hash.toString("latin1");
  if (type === undefined || value === undefined || device === undefined) return null;
  if (hashName !== "sha256" && hashName !== "sha512") return null;
  return {
    blob: key.toString("base64"),
    namespace: namespace.toString("latin1"),
    hash: hashName,
    reserved,
    type: type.toString("latin1"),
    value,
    device,
  };
}

/** Whether a signature is one of the message, made with this key. */
export function isSignedWith(signature: SshSignature, of: SshPublicKey, message: string): boolean {
  const { value, device } = signature;
  if (signature.blob !== of.blob || device.length !== (of.application === null ? 0 : DEVICE_BYTES)) return false;
  const { application } = of;
  const data = application === null ? signedData(signature, message) : signedByDevice(application, signature, message);
  const type = innerKeyType(of.type);
  if (type === "ssh-rsa") {
    // The old name stands for SHA-1, which is not accepted.
    const hash = { "rsa-sha2-256": "sha256", "rsa-sha2-512": "sha512" }[signature.type];
    return hash !== undefined && verify(hash, data, of.key, value);
  }
  if (signature.type !== of.type) return false;
  return type === "ssh-ed25519"
    ? verify(null, data, of.key, value)
    : isSignedOnCurve(value, { type, key: of.key }, data);
}

/** A byte with flags and a counter of four. */
const DEVICE_BYTES = 5;
const USER_PRESENT = 1;

/** Whether somebody has touched the device for a signature: a program alone could have asked it for any other. */
export function isOfTouch({ device: [flags = 0] }: SshSignature): boolean {
  return (flags & USER_PRESENT) !== 0;
}

function signedByDevice(application: Buffer, signature: SshSignature, message: string): Buffer {
  return Buffer.concat([sha256(application), signature.device, sha256(signedData(signature, message))]);
}

function sha256(data: Buffer | string): Buffer {
  return createHash("sha256").update(data).digest();
}

function signedData({ namespace, reserved, hash }: SshSignature, message: string): Buffer {
  const digest = createHash(hash).update(message).digest();
  const parts = [Buffer.from(namespace, "latin1"), reserved, Buffer.from(hash), digest];
  return Buffer.concat([Buffer.from(MAGIC), ...parts.map(wireString)]);
}

function isSignedOnCurve(value: Buffer, { type, key }: Pick<SshPublicKey, "type" | "key">, data: Buffer): boolean {
  const bytes = coordinateBytes(type);
  const numbers = wireStrings(value)?.map(positiveInteger) ?? [];
  const [r, s] = numbers;
  if (bytes === null || numbers.length !== 2 || !r || !s || r.length > bytes || s.length > bytes) return false;
  const padded = [r, s].map((number) => Buffer.concat([Buffer.alloc(bytes - number.length), number]));
  const hash = bytes === 32 ? "sha256" : bytes === 48 ? "sha384" : "sha512";
  return verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, Buffer.concat(padded));
}
