import type { Imprint } from "../client/recall.ts";
import type { Identity } from "../core/manifest.ts";

/** That a manifest and a row of live were found to say the same, and by which receipt that was told. */
export type Accord = {
  /** Digest of what declares the manifest. */
  readonly manifest: string;
  /** Null where live cannot be read, and the manifest says what the receipt says was written. */
  readonly row: Imprint | null;
  /** Mark of the receipt; null where there was none. */
  readonly receipt: string | null;
};

/** What is remembered of a row of live: what tells it apart in its list, and whose it is; no key where it is none of ours. */
export type RowFact = { readonly id: string; readonly key: string | null; readonly version: number | null };

/** What is remembered of the list of one kind. */
export type ListFacts = {
  readonly rows: ReadonlyMap<Imprint, RowFact>;
  readonly pages: ReadonlyMap<Imprint, PageFact>;
};

/** What is remembered of a page: its rows in order. */
export type PageFact = { readonly rows: readonly Imprint[]; readonly total: number };

/** What one run remembers of a control plane for the next, so that it need not look again at what has not moved. */
export type Remembered = {
  readonly accords: ReadonlyMap<Identity, Accord>;
  /** By kind. */
  readonly lists: ReadonlyMap<string, ListFacts>;
};

/** Where what is remembered of one control plane is kept. */
export type Remembrance = {
  readonly load: () => Remembered;
  readonly save: (remembered: Remembered) => void;
};

/** Nothing remembered. */
export const nothingRemembered: Remembered = { accords: new Map(), lists: new Map() };
