import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Stop } from "../../clock/clock.ts";
import { type Stamp, stampOf } from "../../source/file-stamp.ts";
import { FilesError } from "./files-error.ts";
import { type UndigestedFile, unreadable } from "./find-files.ts";

/** A file of a version with its content's size and SHA-256 in hexadecimal, and its stamp then. */
export type VersionFile = UndigestedFile & { readonly stamp: Stamp; readonly size: number; readonly digest: string };

// What is in memory of a file at once.
const CHUNK_BYTES = 256 * 1024;

// A path may have become a link or a FIFO since it was found.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

// A pointer of Git LFS is a text of about 130 bytes.
const POINTER_BYTES = 1024;
const POINTER = /^version https?:\/\/(?:git-lfs|hawser)\.github\.com\/spec\//;

/** Reads a file whole, and returns its size and digest. `onBytes` is told how many bytes were read. */
export async function digestFile(
  file: UndigestedFile,
  onBytes: (bytes: number) => void,
  { signal }: Stop,
): Promise<VersionFile> {
  await using handle = await openFile(file);
  const stamp = await stampIn(handle, file);
  const sum = createHash("sha256");
  for await (const chunk of chunksOf(handle, { first: 0, size: stamp.size }, file, signal)) {
    if (stamp.size < POINTER_BYTES && POINTER.test(chunk.toString("latin1"))) {
      throw new FilesError(`${file.path} is a Git LFS pointer, and not the file itself: run git lfs pull`);
    }
    sum.update(chunk);
    onBytes(chunk.length);
  }
  await requireSame(handle, file, stamp);
  return { ...file, stamp, size: stamp.size, digest: sum.digest("hex") };
}

/** A part of a file: its first byte, and how many there are. */
export type FilePart = { readonly first: number; readonly size: number };

/** The content of a part of a file in chunks. It ends with a `FilesError` if the file is no longer the one that was digested. */
export async function* readPart(
  file: VersionFile,
  part: FilePart,
  { signal }: Stop,
): AsyncGenerator<Buffer, void, undefined> {
  await using handle = await openFile(file);
  await requireSame(handle, file, file.stamp);
  const isWhole = part.first === 0 && part.size === file.size;
  const sum = createHash("sha256");
  for await (const chunk of chunksOf(handle, part, file, signal)) {
    if (isWhole) sum.update(chunk);
    // A socket may still have it when the next one is read.
    yield Buffer.from(chunk);
  }
  await requireSame(handle, file, file.stamp);
  // A file system that keeps no exact times may show the same stamp.
  if (isWhole && sum.digest("hex") !== file.digest) throw changed(file);
}

async function openFile({ real, path }: UndigestedFile): Promise<FileHandle> {
  return open(real, FLAGS).catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

async function stampIn(handle: FileHandle, { path }: UndigestedFile): Promise<Stamp> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new FilesError(`${path} is neither a file nor a folder`);
  return stampOf(stats);
}

async function requireSame(handle: FileHandle, file: UndigestedFile, before: Stamp): Promise<void> {
  const now = await stampIn(handle, file);
  const isSame =
    now.size === before.size &&
    now.modified === before.modified &&
    now.changed === before.changed &&
    now.inode === before.inode;
  if (!isSame) throw changed(file);
}

function changed({ path }: UndigestedFile): FilesError {
  return new FilesError(`${path} has changed while it was read`);
}

async function* chunksOf(
  handle: FileHandle,
  { first, size }: FilePart,
  file: UndigestedFile,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, Math.max(size, 1)));
  for (let at = 0; at < size; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, size - at), first + at);
    if (bytesRead === 0) throw changed(file);
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
