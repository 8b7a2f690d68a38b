// biome-ignore-all lint/plugin: keys and initialisation vectors must not be foreseen or repeated
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** A scalar of a SOPS file. */
export type SopsScalar = string | number | boolean;

/** The types that SOPS writes beside a value. */
const TYPES = ["str", "int", "float", "bool", "bytes", "time", "comment"] as const;
type ValueType = (typeof TYPES)[number];

const BASE64 = "[A-Za-z0-9+/]*={0,2}";
const FORM = new RegExp(`^ENC\\[AES256_GCM,data:(${BASE64}),iv:(${BASE64}),tag:(${BASE64}),type:([a-z]+)\\]$`);
const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;
const IV_BYTES = 32;
const KEY_BYTES = 32;

/** A decrypted value: its text, and the bytes that count for the MAC; null for a comment, which does not count. */
export type Decrypted = { readonly text: string; readonly counted: Buffer | null };

/** Whether a value has the form of an encrypted one. */
export function isEncryptedText(value: SopsScalar): boolean {
  return typeof value === "string" && FORM.test(value);
}

/** Decrypts a value of the form `ENC[AES256_GCM,…]`; null where it is not that, or was not encrypted with this key for this place. */
export function decryptValue(text: string, key: Uint8Array, place: string): Decrypted | null {
  const [, data, iv, tag, type] = FORM.exec(text) ?? [];
  if (data === undefined || iv === undefined || tag === undefined || !isType(type)) return null;
  try {
    // A shorter tag, which would be easier to guess, is refused by its length.
    const decipher = createDecipheriv(CIPHER, key, Buffer.from(iv, "base64"), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place, "utf8")).setAuthTag(Buffer.from(tag, "base64"));
    const bytes = Buffer.concat([decipher.update(data, "base64"), decipher.final()]);
    return decoded(bytes, type);
  } catch {
    return null;
  }
}

/** Encrypts a text for a place in a file; an empty text stays empty, as SOPS has it. */
export function encryptValue(text: string, key: Uint8Array, place: string): string {
  if (text === "") return "";
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place, "utf8"));
  const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const [shown, nonce, tag] = [data, iv, cipher.getAuthTag()].map((bytes) => bytes.toString("base64"));
  return `ENC[AES256_GCM,data:${shown},iv:${nonce},tag:${tag},type:str]`;
}

/** A new key for the values of one file. */
export function newDataKey(): Uint8Array {
  return randomBytes(KEY_BYTES);
}

/** The bytes by which a clear value counts for the MAC, as SOPS writes it. */
export function countedBytes(value: SopsScalar): Buffer {
  if (typeof value === "boolean") return Buffer.from(value ? "True" : "False");
  return Buffer.from(typeof value === "number" ? decimal(value) : value, "utf8");
}

function isType(type: string | undefined): type is ValueType {
  return TYPES.some((one) => one === type);
}

// A value that was encrypted as a number or boolean counts as that, however its text was written.
function decoded(bytes: Buffer, type: ValueType): Decrypted | null {
  const text = bytes.toString("utf8");
  switch (type) {
    case "str":
    case "bytes":
    case "time":
      return { text, counted: bytes };
    case "int":
      return /^[-+]?\d+$/.test(text) ? { text, counted: Buffer.from(BigInt(text.replace("+", "")).toString()) } : null;
    case "float":
      return Number.isFinite(Number(text)) && text !== "" ? { text, counted: countedBytes(Number(text)) } : null;
    case "bool":
      return /^(?:true|false)$/i.test(text) ? boolean(/^true$/i.test(text)) : null;
    case "comment":
      return { text, counted: null };
  }
}

function boolean(value: boolean): Decrypted {
  return { text: String(value), counted: countedBytes(value) };
}

// As few digits as tell it from all others, never with an exponent.
function decimal(value: number): string {
  if (Object.is(value, -0)) return "-0";
  const [, sign = "", whole = "", rest = "", power] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([-+]\d+))?$/.exec(String(value)) ?? [];
  if (power === undefined) return String(value);
  const digits = whole + rest;
  const point = whole.length + Number(power);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, "0").slice(0, point)}${point < digits.length ? `.${digits.slice(point)}` : ""}`;
}
