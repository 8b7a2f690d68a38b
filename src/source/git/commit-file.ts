import { digestOf } from "../content-digest.ts";
import type { SourceFile } from "../revision.ts";
import { readBlobsNow } from "./blobs.ts";
import type { Repository } from "./repository-paths.ts";

/** What is known of a file of a commit before it is read again. */
type CommitFileHead = Pick<SourceFile, "path" | "display" | "size" | "digest"> & { readonly blob: string };

/** Files of a repository of ours, which keeps their objects. */
type CommitFiles = { readonly repository: Repository; readonly all: CommitFile[]; ahead: number };

/** Whoever reads one file again mostly reads the next ones too, and each call of git takes milliseconds. */
const MAX_AHEAD = 256;

/** A file of a commit. Its bytes are given out once, and read again where somebody asks once more. */
export class CommitFile implements SourceFile {
  readonly path: string;
  readonly display: string;
  readonly size: number;
  readonly digest: string | null;
  readonly stamp = null;
  readonly blob: string;
  readonly #among: CommitFiles;
  readonly #index: number;
  #held: Uint8Array | null;

  constructor({ path, display, size, digest, blob }: CommitFileHead, held: Uint8Array | null, among: CommitFiles) {
    this.path = path;
    this.display = display;
    this.size = size;
    this.digest = digest;
    this.blob = blob;
    this.#held = held;
    this.#among = among;
    this.#index = among.all.push(this) - 1;
  }

  bytes(): Uint8Array {
    if (this.#held === null) this.#readAhead();
    const bytes = this.#held ?? new Uint8Array();
    // The beginning of a larger file is all that there is of it.
    if (this.digest !== null) this.#held = null;
    return bytes;
  }

  #readAhead(): void {
    const { repository, all, ahead } = this.#among;
    const wanted = all.slice(this.#index, this.#index + ahead).filter((file) => file.#held === null);
    const contents = readBlobsNow(
      repository,
      wanted.map(({ blob }) => blob),
    );
    for (const [at, file] of wanted.entries()) file.#held = contents[at] ?? null;
    this.#among.ahead = Math.min(2 * ahead, MAX_AHEAD);
  }
}

/** Files of a commit in a repository that keeps its objects; `bytes` is null where their digest was known already. */
export function commitFiles(
  repository: Repository,
  files: readonly (Omit<CommitFileHead, "digest"> & {
    readonly known: string | null;
    readonly bytes: Uint8Array | null;
  })[],
): readonly CommitFile[] {
  const among: CommitFiles = { repository, all: [], ahead: 1 };
  return files.map(({ known, bytes, ...head }) => {
    const digest = known ?? (bytes !== null && bytes.length === head.size ? digestOf(bytes) : null);
    return new CommitFile({ ...head, digest }, bytes, among);
  });
}
