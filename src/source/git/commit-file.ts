import type { Stop } from "../../clock/clock.ts";
import { blobDigests } from "../../contract/content-digest.ts";
import { type Pace, pacer } from "../pacer.ts";
import type { SourceFile } from "../revision.ts";
import { readBlobs } from "./blobs.ts";
import type { Repository } from "./repository-paths.ts";

/** What is known about a file of a commit without reading it again. */
type CommitFileHead = Pick<SourceFile, "path" | "display" | "size" | "digest"> & { readonly blob: string };

/** The files of a commit in our own repository, which keeps their objects. */
type CommitFiles = {
  readonly repository: Repository;
  readonly all: CommitFile[];
  /** The number of files in the next read. */
  ahead: number;
  /** The index after the last file that was read. */
  next: number;
};

/** Files are usually reread in order, and each git process takes milliseconds: several are read ahead. */
const MAX_AHEAD = 256;

/** A file of a commit. Its content is released after the first `bytes` call, and git reads it again for later ones. */
export class CommitFile implements SourceFile {
  readonly path: string;
  readonly display: string;
  readonly size: number;
  readonly digest: string | null;
  readonly stamp = null;
  readonly blob: string;
  readonly #files: CommitFiles;
  readonly #index: number;
  #held: Uint8Array | null;

  constructor({ path, display, size, digest, blob }: CommitFileHead, held: Uint8Array | null, files: CommitFiles) {
    this.path = path;
    this.display = display;
    this.size = size;
    this.digest = digest;
    this.blob = blob;
    this.#held = held;
    this.#files = files;
    this.#index = files.all.push(this) - 1;
  }

  bytes(stop: Stop): Uint8Array | Promise<Uint8Array> {
    return this.#held === null ? this.#readAhead(stop) : this.#take(this.#held);
  }

  #take(bytes: Uint8Array): Uint8Array {
    // A file beyond the size limit has no digest: only its beginning was read, which is kept.
    if (this.digest !== null) this.#held = null;
    return bytes;
  }

  async #readAhead(stop: Stop): Promise<Uint8Array> {
    const files = this.#files;
    // Doubled while reading continues in order; a read elsewhere starts with one file.
    const isInOrder = this.#index >= files.next && this.#index <= files.next + files.ahead;
    files.ahead = isInOrder ? Math.min(2 * files.ahead, MAX_AHEAD) : 1;
    files.next = this.#index + files.ahead;
    const wanted = files.all.slice(this.#index, files.next).filter((file) => file.#held === null);
    const blobs = wanted.map(({ blob }) => blob);
    const contents = await readBlobs(files.repository, blobs, stop);
    for (const [at, file] of wanted.entries()) file.#held = contents[at] ?? null;
    if (this.#held === null) throw new TypeError(`git gave no content of ${this.display}`);
    return this.#take(this.#held);
  }
}

/** Files of a commit in a repository that keeps its objects; `bytes` is null if the digest was already known. */
export async function commitFiles(
  repository: Repository,
  files: readonly (Omit<CommitFileHead, "digest"> & {
    readonly known: string | null;
    readonly bytes: Uint8Array | null;
  })[],
  pace: Pace,
): Promise<readonly CommitFile[]> {
  const pause = pacer(pace);
  const digestOf = blobDigests();
  const siblings: CommitFiles = { repository, all: [], ahead: 1, next: -1 };
  const made: CommitFile[] = [];
  for (const { known, bytes, ...head } of files) {
    const digest = known ?? (bytes !== null && bytes.length === head.size ? digestOf(head.blob, bytes) : null);
    made.push(new CommitFile({ ...head, digest }, bytes, siblings));
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return made;
}
