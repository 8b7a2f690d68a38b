import { HoldfastError } from "../core/errors.ts";
import { digestOf } from "./content-digest.ts";
import type { Stamp } from "./file-stamp.ts";
import { blobId } from "./git/blobs.ts";
import type { Head } from "./git/tree.ts";
import type { FileState } from "./known-files.ts";
import { readRegularFile } from "./read-regular-file.ts";
import type { SourceFile } from "./revision.ts";

/** What the files of one folder share. */
export type FolderPlace = {
  /** What every place in the root begins with. */
  readonly within: string;
  readonly display: (path: string) => string;
  /** Bytes of the largest file that is read. */
  readonly limit: number;
  /** The commit that is checked out; null outside git, and until it is known. */
  head: Head | null;
};

/** What was found out of a file by looking at it, or is remembered of it. */
export type Found = Omit<FileState, "digest"> & Pick<SourceFile, "digest">;

/**
 * A file of a folder. Its bytes are given out once, so that nobody holds them for longer than needed; after that they are
 * read again, and must be the same.
 */
export class FolderFile implements SourceFile {
  readonly path: string;
  readonly #place: FolderPlace;
  readonly #found: Found;
  #held: Uint8Array | null;
  #blob: string | null = null;

  constructor(place: FolderPlace, path: string, found: Found, held: Uint8Array | null) {
    this.#place = place;
    this.path = path;
    this.#found = found;
    this.#held = held;
  }

  get display(): string {
    return this.#place.display(this.path);
  }

  get size(): number {
    return this.#found.stamp.size;
  }

  get digest(): string | null {
    return this.#found.digest;
  }

  get stamp(): Stamp {
    return this.#found.stamp;
  }

  get blob(): string | null {
    const { head } = this.#place;
    // What is beyond the size limit is not read, in the commit or out of it.
    if (head === null || this.digest === null) return null;
    this.#blob ??= blobOf(this.#found.blob, head, () => this.#held ?? this.#read());
    return this.#blob;
  }

  /** Bytes that are held until somebody asks for them. */
  get heldBytes(): number {
    return this.#held?.length ?? this.size;
  }

  bytes(): Uint8Array {
    const bytes = this.#held ?? this.#read();
    // The beginning of a larger file is all that there is of it.
    if (this.digest !== null) this.#held = null;
    return bytes;
  }

  #read(): Uint8Array {
    const path = this.#place.within + this.path;
    const opened = readRegularFile(path, this.#place.limit);
    const isSame =
      opened.is === "read" && opened.size === opened.bytes.length && digestOf(opened.bytes) === this.digest;
    if (isSame) return opened.bytes;
    throw new HoldfastError("error", `${path} was changed while it was being read`, {
      hint: "run it again once nothing writes there",
    });
  }
}

// A repository names its objects by one kind of hash, and may have been made anew with another.
function blobOf(known: string | null, { commit, format }: Head, bytes: () => Uint8Array): string {
  return known?.length === commit.length ? known : blobId(bytes(), format);
}
