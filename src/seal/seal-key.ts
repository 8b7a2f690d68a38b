// biome-ignore-all lint/plugin: a key must not be foreseen
import { createSecretKey, hash, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { stat } from "node:fs/promises";
import { Secret } from "../contract/secret.ts";
import { readGivenText } from "../files/read-given-file.ts";
import { readOwnFile } from "../files/read-own-file.ts";
import { createFile } from "../files/write-file.ts";

const KEY_BYTES = 32;
/** Enough for hundreds of keys. */
const MAX_FILE_BYTES = 64 * 1024;

/** An encryption key; its `version` is part of every sealed value, so that several keys can be in use. */
export type SealKey = { readonly version: string; readonly bytes: Secret };

/** A key that cannot be used: it has the wrong length, or others can read its file. */
export class SealKeyError extends Error {
  override readonly name = "SealKeyError";
}

/** Parses a key of 32 bytes, in base64 or hexadecimal. */
export function parseKey(text: string): SealKey {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, /^[0-9a-fA-F]{64}$/.test(trimmed) ? "hex" : "base64");
  if (bytes.length !== KEY_BYTES) throw new SealKeyError("a key is 32 bytes, as base64 or hexadecimal text");
  return keyOf(bytes);
}

/** Keys in use at the same time: the newest one seals, any of them unseals. */
export type KeyRing = { readonly newest: SealKey; readonly all: readonly SealKey[] };

/** Parses one or more keys, the newest first, separated by white space or commas. */
export function parseKeys(text: string): KeyRing {
  const all = text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map(parseKey);
  const [newest] = all;
  if (newest === undefined) throw new SealKeyError("there is no key");
  return { newest, all };
}

/** Reads the key file, or creates one with mode 0600. */
export async function loadOrCreateKey(path: string): Promise<SealKey> {
  const key = createKeyFile(path) ?? (await readKeyFile(path))?.newest;
  if (key === undefined) throw new SealKeyError(`${path} was removed while it was being read`);
  return key;
}

function createKeyFile(path: string): SealKey | null {
  const fresh = generateKey();
  return createFile(path, `${fresh.bytes.open()}\n`, { durable: true }) ? fresh : null;
}

/** A new random key. */
export function generateKey(): SealKey {
  return keyOf(randomBytes(KEY_BYTES));
}

/** Reads the keys of a file that only the user can read; null when it is absent or empty. */
export async function readKeyFile(path: string): Promise<KeyRing | null> {
  const bytes = readOwnFile(path, { limit: MAX_FILE_BYTES, isSecret: true });
  return bytes === null || bytes.length === 0 ? null : keysIn(path, bytes.toString("utf8"));
}

/** Reads the keys of a file that the operator configured: it may be a link, and its group may read it. */
export async function readOperatorKeyFile(path: string): Promise<KeyRing> {
  const { mode } = await stat(path);
  if ((mode & 0o007) !== 0) throw new SealKeyError(`${path}: others can read this key; run chmod 600 on it`);
  return keysIn(path, readGivenText(path));
}

function keysIn(path: string, text: string): KeyRing {
  try {
    return parseKeys(text);
  } catch (cause) {
    if (!(cause instanceof SealKeyError)) throw cause;
    throw new SealKeyError(`${path}: ${cause.message}`, { cause });
  }
}

/** Derives a key for one purpose (HKDF-SHA-256); the derived key also depends on `context`. */
export function deriveKey(key: SealKey, purpose: string, context: Buffer = Buffer.alloc(0)): SealKey {
  return keyOf(Buffer.from(hkdfSync("sha256", keyObject(key), context, purpose, KEY_BYTES)));
}

const objects = new WeakMap<SealKey, KeyObject>();

/** The key as a KeyObject; cached, since creating one takes longer than sealing a manifest. */
export function keyObject(key: SealKey): KeyObject {
  const known = objects.get(key);
  if (known !== undefined) return known;
  const created = createSecretKey(Buffer.from(key.bytes.open(), "base64"));
  objects.set(key, created);
  return created;
}

function keyOf(bytes: Buffer): SealKey {
  // The version identifies the key without revealing anything about it.
  const version = hash("sha256", Buffer.concat([Buffer.from("key version"), bytes])).slice(0, 8);
  return { version, bytes: new Secret(bytes.toString("base64")) };
}
