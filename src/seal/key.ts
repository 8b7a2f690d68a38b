import { createSecretKey, hash, hkdfSync, type KeyObject, randomBytes } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { Secret } from "../contract/secret.ts";
import { readOwnFile } from "../files/own-file.ts";
import { createFile } from "../files/write.ts";

const KEY_BYTES = 32;
/** Room for hundreds of keys. */
const MOST_FILE_BYTES = 64 * 1024;

/** A key that seals; its `version` is written beside what it sealed, so that several keys can live side by side. */
export type SealKey = { readonly version: string; readonly bytes: Secret };

/** A key that cannot be used: wrong length, or a file that others may read. */
export class SealKeyError extends Error {
  override readonly name = "SealKeyError";
}

/** Reads a key of 32 bytes from its text, base64 or hexadecimal. */
export function parseKey(text: string): SealKey {
  const trimmed = text.trim();
  const bytes = Buffer.from(trimmed, /^[0-9a-fA-F]{64}$/.test(trimmed) ? "hex" : "base64");
  if (bytes.length !== KEY_BYTES) throw new SealKeyError("a key is 32 bytes, as base64 or hexadecimal text");
  return keyOf(bytes);
}

/** Keys that live side by side: the newest seals, and all of them open. */
export type KeyRing = { readonly newest: SealKey; readonly all: readonly SealKey[] };

/** Reads one key or several, the newest first, with white space or commas between them. */
export function parseKeys(text: string): KeyRing {
  const all = text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map(parseKey);
  const [newest] = all;
  if (newest === undefined) throw new SealKeyError("there is no key");
  return { newest, all };
}

/** Reads the key file, or makes one that only its owner can read. */
export async function loadOrCreateKey(path: string): Promise<SealKey> {
  const key = makeKeyFile(path) ?? (await readKeyFile(path))?.newest;
  if (key === undefined) throw new SealKeyError(`${path} was removed while it was being read`);
  return key;
}

function makeKeyFile(path: string): SealKey | null {
  const fresh = generateKey();
  return createFile(path, `${fresh.bytes.open()}\n`, { durable: true }) ? fresh : null;
}

/** A key that nobody has had before. */
export function generateKey(): SealKey {
  return keyOf(randomBytes(KEY_BYTES));
}

/** Reads the keys of a file of ours, which nobody else can read; null where there is none, or one that is empty. */
export async function readKeyFile(path: string): Promise<KeyRing | null> {
  const bytes = readOwnFile(path, { limit: MOST_FILE_BYTES, isSecret: true });
  return bytes === null || bytes.length === 0 ? null : keysIn(path, bytes.toString("utf8"));
}

/** Reads the keys of a file that the operator has named: links in it are theirs, and its group may read it. */
export async function readOperatorKeyFile(path: string): Promise<KeyRing> {
  const { mode } = await stat(path);
  if ((mode & 0o007) !== 0) throw new SealKeyError(`${path}: others can read this key; run chmod 600 on it`);
  return keysIn(path, await readFile(path, "utf8"));
}

function keysIn(path: string, text: string): KeyRing {
  try {
    return parseKeys(text);
  } catch (cause) {
    if (!(cause instanceof SealKeyError)) throw cause;
    throw new SealKeyError(`${path}: ${cause.message}`, { cause });
  }
}

/** A further key for one purpose (HKDF-SHA-256); `context` adds what else it must depend on. */
export function deriveKey(key: SealKey, purpose: string, context: Buffer = Buffer.alloc(0)): SealKey {
  return keyOf(Buffer.from(hkdfSync("sha256", keyObject(key), context, purpose, KEY_BYTES)));
}

const objects = new WeakMap<SealKey, KeyObject>();

/** The key as the ciphers take it: made once, since handing the bytes over takes longer than sealing a manifest. */
export function keyObject(key: SealKey): KeyObject {
  const known = objects.get(key);
  if (known !== undefined) return known;
  const made = createSecretKey(Buffer.from(key.bytes.open(), "base64"));
  objects.set(key, made);
  return made;
}

function keyOf(bytes: Buffer): SealKey {
  // The name of a key tells which one it is, and nothing of its value.
  const version = hash("sha256", Buffer.concat([Buffer.from("key version"), bytes])).slice(0, 8);
  return { version, bytes: new Secret(bytes.toString("base64")) };
}
