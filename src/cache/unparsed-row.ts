import type { Json, JsonObject } from "../contract/json.ts";

const NO_MANIFEST: JsonObject = {};

/**
 * A row of a list that was recognised by its bytes and not parsed. It takes the place of the row in a reply. It is a
 * class, so that it cannot be confused with a row that a server sent.
 */
export class UnparsedRow {
  readonly [field: string]: Json;
  readonly digest: string;
  /** Its unique id in the list. */
  readonly id: string;
  /** The key part of its identity; null if the row belongs to another kind. */
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
  /** The number of rows in the whole list, as the page states it. */
  readonly total: Json;
  readonly rows: readonly UnparsedRow[];
};
