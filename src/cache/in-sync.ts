import type { Imprint, KnownRow, PageFact } from "../client/recall.ts";
import type { Identity } from "../core/manifest.ts";

/** That a manifest and a row of live were found to say the same, and by which receipt that was told. */
export type SyncRecord = {
  /** Digest of what declares the manifest. */
  readonly manifest: string;
  /** Null where live cannot be read, and the manifest says what the receipt says was written. */
  readonly row: Imprint | null;
  /** Mark of the receipt; null where there was none. */
  readonly receipt: string | null;
};

/** What an earlier run found in sync. */
export type SyncRecords = Iterable<readonly [Identity, SyncRecord]> & {
  readonly get: (identity: Identity) => SyncRecord | undefined;
  /** Whether a resource has one by this manifest and this receipt; told fastest in the order in which they were kept. */
  readonly hold: (identity: Identity, by: Pick<SyncRecord, "manifest" | "receipt">) => boolean;
};

/** What is known of the list of one kind. */
export type ListFacts = {
  /** In order, one page after the other. */
  readonly rows: readonly KnownRow[];
  /** None where the rows did not come so. */
  readonly pages: readonly PageFact[];
};

/** What an earlier run has left of a control plane, so that what has not moved is not looked at again. */
export type KnownLive = {
  readonly inSync: SyncRecords;
  /** By kind. */
  readonly lists: ReadonlyMap<string, ListFacts>;
};

/** What a run leaves for the next one. */
export type LiveToKeep = {
  /** Best in the order in which they will be asked for. */
  readonly inSync: Iterable<readonly [Identity, SyncRecord]>;
  readonly lists: ReadonlyMap<string, ListFacts>;
};

/** Where what is known of one control plane is kept from run to run. */
export type LiveCache = {
  readonly load: () => KnownLive;
  readonly save: (live: LiveToKeep) => void;
};
