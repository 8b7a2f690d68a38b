import type { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import { isObject, type JsonObject } from "../contract/json.ts";

/** What a row's or a page's bytes are known by: no two that differ have the same. */
export type Imprint = string;

const KNOWN = Symbol("known");
const IMPRINT = Symbol("imprint");

/** A row that was recognised by its bytes and not read again. */
export type KnownRow = JsonObject & {
  readonly [KNOWN]: true;
  readonly [IMPRINT]: Imprint;
  readonly imprint: Imprint;
  /** What tells it apart in its list. */
  readonly id: string;
};

/** What is known of the pages of a list and their rows, by their bytes. */
export type Recall = {
  /** The row with these bytes; null when it has to be read. */
  readonly row: (imprint: Imprint) => KnownRow | null;
  /** Takes note of a row that was read just now, and gives it up where no more need be told of it; null where it is kept. */
  readonly settle?: (row: JsonObject, imprint: Imprint) => KnownRow | null;
  /** The page with these bytes; null when one of its rows has to be read. */
  readonly page?: (imprint: Imprint) => KnownPage | null;
  /** Hears of each page, row by row in order; called only where pages are recalled. */
  readonly sawPage?: (imprint: Imprint, page: SeenPage) => void;
};

/** A page whose rows are all known. */
export type KnownPage = { readonly rows: readonly KnownRow[]; readonly total: number };

/** A page as it was seen. */
export type SeenPage = { readonly rows: readonly Imprint[]; readonly total: number };

/** A row of a list: read, or only known to be there. */
export type Listed<Row> =
  | { readonly is: "read"; readonly row: Row; readonly imprint: Imprint | null }
  | { readonly is: "known"; readonly row: KnownRow };

/** A row of which no more is told than what tells it apart. */
export function knownRow(imprint: Imprint, id: string): KnownRow {
  return { [KNOWN]: true, [IMPRINT]: imprint, imprint, id };
}

/** Whether the row was recognised and not read; no server can make one that looks so. */
export function isKnownRow(row: unknown): row is KnownRow {
  return isObject(row) && KNOWN in row;
}

/** The imprint of bytes. */
export function imprintOf(bytes: Buffer): Imprint {
  return hash("sha256", bytes, "base64");
}

/** The row with its imprint upon it, which copies of it keep. */
export function imprinted(row: JsonObject, imprint: Imprint): JsonObject {
  return Object.assign(row, { [IMPRINT]: imprint });
}

/** The imprint of a row that was read; null where it was read without one. */
export function rowImprint(row: JsonObject): Imprint | null {
  const { [IMPRINT]: imprint } = row as { [IMPRINT]?: Imprint };
  return imprint ?? null;
}
