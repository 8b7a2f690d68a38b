import { contentDigest } from "../contract/content-digest.ts";
import type { FileState, Stamp } from "./file-stamp.ts";
import { blobId } from "./git/blobs.ts";
import type { Head } from "./git/tree.ts";
import { readRegularFile } from "./read-regular-file.ts";
import type { SourceFile } from "./revision.ts";
import { UnsettledSourceError } from "./source-error.ts";

/** What the files of one folder share. */
export type FolderPlace = {
  /** Absolute path of the root, with a trailing separator. */
  readonly rootPrefix: string;
  readonly display: (path: string) => string;
  /** The size in bytes of the largest file that is read. */
  readonly limit: number;
  /** The commit that is checked out; null outside git, and until it is known. */
  head: Head | null;
};

/** The state of a file, read now or known from an earlier run; `digest` is null beyond the size limit. */
export type FoundFile = Omit<FileState, "digest"> & Pick<SourceFile, "digest">;

/**
 * A file of a folder. Its bytes are returned from memory once and then released; after that they are read again, and
 * must be unchanged.
 */
export class FolderFile implements SourceFile {
  readonly path: string;
  readonly #place: FolderPlace;
  readonly #found: FoundFile;
  #held: Uint8Array | null;
  #blob: string | null = null;

  constructor(place: FolderPlace, path: string, found: FoundFile, held: Uint8Array | null) {
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
    // A file beyond the size limit is not read, neither in the folder nor in the commit.
    if (head === null || this.digest === null) return null;
    this.#blob ??= blobOf(this.#found.blob, head, () => this.#held ?? this.#read());
    return this.#blob;
  }

  /** The number of bytes that are in memory until `bytes` is called, or the size of the file. */
  get heldBytes(): number {
    return this.#held?.length ?? this.size;
  }

  bytes(): Uint8Array {
    const bytes = this.#held ?? this.#read();
    // Of a file beyond the size limit, only the beginning is ever used, so it stays in memory.
    if (this.digest !== null) this.#held = null;
    return bytes;
  }

  #read(): Uint8Array {
    const path = this.#place.rootPrefix + this.path;
    const opened = readRegularFile(path, this.#place.limit);
    const isSame =
      opened.is === "read" && opened.size === opened.bytes.length && contentDigest(opened.bytes) === this.digest;
    if (isSame) return opened.bytes;
    throw new UnsettledSourceError("error", `${path} was changed while it was being read`, {
      hint: "run it again once nothing writes there",
    });
  }
}

// A known id is only valid for the repository's hash algorithm: the repository may have been recreated with another.
function blobOf(known: string | null, { commit, format }: Head, bytes: () => Uint8Array): string {
  return known?.length === commit.length ? known : blobId(bytes(), format);
}
