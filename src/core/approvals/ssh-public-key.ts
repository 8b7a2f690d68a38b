import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { base64Bytes, positiveInteger, wireStart, wireStrings } from "./ssh-wire.ts";

/** A public key of SSH that can verify signatures. */
export type SshPublicKey = {
  readonly type: string;
  /** The key as SSH encodes it, in base64: two keys with the same text are one key. */
  readonly blob: string;
  /** `SHA256:…`, as ssh-keygen prints it. */
  readonly fingerprint: string;
  readonly key: KeyObject;
  /** The application of a key of a FIDO device, which its signatures cover; null for other keys. */
  readonly application: Buffer | null;
};

const ED25519_BYTES = 32;
const RSA_BITS = { least: 2048, most: 16_384 };
/** Enough for each exponent in use; a larger one makes verifying slow. */
const MAX_EXPONENT_BYTES = 4;

const curves: ReadonlyMap<string, { readonly name: string; readonly jwk: string; readonly bytes: number }> = new Map([
  ["ecdsa-sha2-nistp256", { name: "nistp256", jwk: "P-256", bytes: 32 }],
  ["ecdsa-sha2-nistp384", { name: "nistp384", jwk: "P-384", bytes: 48 }],
  ["ecdsa-sha2-nistp521", { name: "nistp521", jwk: "P-521", bytes: 66 }],
]);

/** The types of keys of FIDO devices, with those of the keys that they have inside. */
const fidoTypes: ReadonlyMap<string, string> = new Map([
  ["sk-ssh-ed25519@openssh.com", "ssh-ed25519"],
  ["sk-ecdsa-sha2-nistp256@openssh.com", "ecdsa-sha2-nistp256"],
]);

/** The types of keys that are accepted. */
export const SSH_KEY_TYPES: readonly string[] = ["ssh-ed25519", "ssh-rsa", ...curves.keys(), ...fidoTypes.keys()];

/** The type of the key that makes the numbers of a signature: that inside a FIDO device, or the type itself. */
export function innerKeyType(type: string): string {
  return fidoTypes.get(type) ?? type;
}

/** Whether a type is that of certificates. */
export function isCertificateType(type: string): boolean {
  return /-cert-v\d\d@openssh\.com$/.test(type);
}

/** The type that a key in base64 says it has; empty for what is no key. */
export function typeOfBlob(blob: string): string {
  const [type] = wireStart(Buffer.from(blob, "base64"), 1)?.strings ?? [];
  return type?.toString("latin1") ?? "";
}

/** The bytes of a coordinate of the curve of a key; null for keys without a curve. */
export function coordinateBytes(type: string): number | null {
  return curves.get(type)?.bytes ?? null;
}

/** Reads a public key from its type and its text in base64; a text says why it is refused. */
export function readSshPublicKey(type: string, blob: string): SshPublicKey | string {
  const bytes = base64Bytes(blob);
  const [named, ...parts] = (bytes && wireStrings(bytes)) ?? [];
  if (bytes === null || named === undefined) return "it is cut off or no public key";
  if (named.toString("latin1") !== type) return `it says ${type}, and the key itself is of another type`;
  const isFido = fidoTypes.has(type);
  const application = isFido ? (parts.at(-1) ?? null) : null;
  const jwk = jwkOf(innerKeyType(type), isFido ? parts.slice(0, -1) : parts);
  if (typeof jwk === "string") return jwk;
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    return { type, blob, fingerprint: fingerprintOf(bytes), key, application };
  } catch {
    return "it is no valid public key";
  }
}

function fingerprintOf(bytes: Buffer): string {
  return `SHA256:${createHash("sha256").update(bytes).digest("base64").replace(/=+$/, "")}`;
}

/** The fingerprint of a key that may be of any type. */
export function fingerprintOfBlob(blob: string): string {
  return fingerprintOf(Buffer.from(blob, "base64"));
}

function jwkOf(type: string, parts: readonly Buffer[]): JsonWebKey | string {
  const [first, second] = parts;
  const curve = curves.get(type);
  if (curve !== undefined) return curveJwk(curve, parts);
  if (type === "ssh-ed25519" && parts.length === 1 && first?.length === ED25519_BYTES)
    return { kty: "OKP", crv: "Ed25519", x: first.toString("base64url") };
  if (type === "ssh-rsa" && parts.length === 2 && first !== undefined && second !== undefined)
    return rsaJwk(first, second);
  return "it is no valid public key";
}

function curveJwk(
  { name, jwk, bytes }: { readonly name: string; readonly jwk: string; readonly bytes: number },
  [named, point, ...more]: readonly Buffer[],
): JsonWebKey | string {
  const isPoint = point?.length === 1 + 2 * bytes && point[0] === 4;
  if (named?.toString("latin1") !== name || !isPoint || more.length > 0) return "it is no valid public key";
  const [x, y] = [point.subarray(1, 1 + bytes), point.subarray(1 + bytes)];
  return { kty: "EC", crv: jwk, x: x.toString("base64url"), y: y.toString("base64url") };
}

function rsaJwk(e: Buffer, n: Buffer): JsonWebKey | string {
  const [exponent, modulus] = [positiveInteger(e), positiveInteger(n)];
  if (exponent === null || modulus === null) return "it is no valid public key";
  const isOdd = ((exponent.at(-1) ?? 0) & (modulus.at(-1) ?? 0) & 1) === 1;
  if (exponent.length > MAX_EXPONENT_BYTES || !isOdd || exponent.equals(Buffer.of(1))) return "its exponent is unusual";
  const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  if (bits < RSA_BITS.least || bits > RSA_BITS.most)
    return `it has ${bits} bits, and at least ${RSA_BITS.least} are needed`;
  return { kty: "RSA", e: exponent.toString("base64url"), n: modulus.toString("base64url") };
}
