import type { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { Json, JsonObject } from "../contract/json.ts";

/** Digest of the bytes of a row or a page. */
export function rowDigest(bytes: Buffer): string {
  return hash("sha256", bytes, "base64");
}

const NO_MANIFEST: JsonObject = {};

/**
 * A row of a list that was recognised by its bytes and not parsed. It stands among the rows of a reply, and being of a
 * class of its own it is none that a server could have sent.
 */
export class UnparsedRow {
  readonly [field: string]: Json;
  readonly digest: string;
  /** What tells it apart in its list. */
  readonly id: string;
  /** The key part of its identity; null where it is none of the kind's. */
  readonly key: string | null;
  readonly version: number | null;
  readonly manifest = NO_MANIFEST;

  constructor(digest: string, id: string, key: string | null, version: number | null) {
    this.digest = digest;
    this.id = id;
    this.key = key;
    this.version = version;
  }
}

/** A page of a list that was read, by the digest of its bytes. */
export type CachedPage = {
  readonly digest: string;
  /** How many rows it says the whole list has, as it says it. */
  readonly total: Json;
  readonly rows: readonly UnparsedRow[];
};
