import type { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { Json, JsonObject } from "../contract/json.ts";

/** What a row's or a page's bytes are known by: no two that differ have the same. */
export type Imprint = string;

const IMPRINT = Symbol("imprint");

/** What is remembered of a row: what tells it apart in its list, and whose it is; no key where it is none of ours. */
export type RowFact = { readonly id: string; readonly key: string | null; readonly version: number | null };

/** A row that was recognised by its bytes and not read again; no server can make one. */
export class KnownRow implements RowFact {
  readonly [field: string]: Json;
  readonly imprint: Imprint;
  readonly id: string;
  readonly key: string | null;
  readonly version: number | null;

  constructor(imprint: Imprint, { id, key, version }: RowFact) {
    this.imprint = imprint;
    this.id = id;
    this.key = key;
    this.version = version;
  }
}

/** What is remembered of a page: how many rows it has, and how many it says the whole list has. */
export type PageFact = { readonly imprint: Imprint; readonly size: number; readonly total: number };

/**
 * A page that was recognised by its bytes, and stands for its rows as a whole. The known pages of a list are of one
 * reading of it, in which no row was on two of them.
 */
export class KnownPage implements PageFact {
  readonly [field: string]: Json;
  readonly imprint: Imprint;
  readonly size: number;
  readonly total: number;
  readonly #rows: () => readonly KnownRow[];

  constructor({ imprint, size, total }: PageFact, rows: () => readonly KnownRow[]) {
    this.imprint = imprint;
    this.size = size;
    this.total = total;
    this.#rows = rows;
  }

  /** Each of its rows, for whoever has to look into it. */
  get rows(): readonly KnownRow[] {
    return this.#rows();
  }
}

/** What is known of the pages of a list and their rows, by their bytes. */
export type Recall = {
  /** The row with these bytes; null when it has to be read. */
  readonly row: (imprint: Imprint) => KnownRow | null;
  /** Takes note of a row that was read just now, and gives it up where no more need be told of it; null where it is kept. */
  readonly settle?: (row: JsonObject, imprint: Imprint) => KnownRow | null;
  /** The page with these bytes; null when one of its rows has to be read. Without it no page is told by its bytes. */
  readonly page?: (imprint: Imprint) => KnownPage | null;
};

/** A row of a list: read, or only known to be there. */
export type Listed<Row> =
  | { readonly is: "read"; readonly row: Row; readonly imprint: Imprint | null }
  | { readonly is: "known"; readonly row: KnownRow };

/** The imprint of bytes. */
export function imprintOf(bytes: Buffer): Imprint {
  return hash("sha256", bytes, "base64");
}

/** A row or a page with its imprint upon it, which copies of it keep. */
export function imprinted(read: JsonObject, imprint: Imprint): JsonObject {
  return Object.assign(read, { [IMPRINT]: imprint });
}

/** The imprint of what was read; null where it was read without one. */
export function readImprint(read: JsonObject): Imprint | null {
  const { [IMPRINT]: imprint } = read as { [IMPRINT]?: Imprint };
  return imprint ?? null;
}
