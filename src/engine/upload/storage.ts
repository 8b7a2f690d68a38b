import type { Stop } from "../../clock/clock.ts";
import type { VersionFile } from "../model-files/read-file.ts";

/** Where the files of one staged version go. */
export type VersionStorage = AsyncDisposable & {
  /** Stores the files that are not there yet. When it resolves, exactly these files are there, durably and whole. */
  readonly store: (files: readonly VersionFile[], storing: Storing) => Promise<void>;
};

/** How files are stored. */
export type Storing = Stop & {
  /** Called with the number of bytes that are there, as they are sent or found. */
  readonly onStored: (bytes: number) => void;
};

/** The storage refuses files for good: another try would end the same way. */
export class StorageRefusal extends Error {
  override readonly name = "StorageRefusal";
}
