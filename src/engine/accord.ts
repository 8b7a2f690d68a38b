import type { Imprint, KnownRow, PageFact } from "../client/recall.ts";
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

/** The accords of an earlier run. */
export type Accords = Iterable<readonly [Identity, Accord]> & {
  readonly get: (identity: Identity) => Accord | undefined;
  /** Whether a resource has one by this manifest and this receipt; told fastest in the order in which they were kept. */
  readonly hold: (identity: Identity, by: Pick<Accord, "manifest" | "receipt">) => boolean;
};

/** What is remembered of the list of one kind. */
export type ListFacts = {
  /** In order, one page after the other. */
  readonly rows: readonly KnownRow[];
  /** None where the rows did not come so. */
  readonly pages: readonly PageFact[];
};

/** What one run remembers of a control plane for the next, so that it need not look again at what has not moved. */
export type Remembered = {
  readonly accords: Accords;
  /** By kind. */
  readonly lists: ReadonlyMap<string, ListFacts>;
};

/** What a run found that the next one should remember. */
export type ToRemember = {
  /** Best in the order in which they will be asked for. */
  readonly accords: Iterable<readonly [Identity, Accord]>;
  readonly lists: ReadonlyMap<string, ListFacts>;
};

/** Where what is remembered of one control plane is kept. */
export type Remembrance = {
  readonly load: () => Remembered;
  readonly save: (toRemember: ToRemember) => void;
};
