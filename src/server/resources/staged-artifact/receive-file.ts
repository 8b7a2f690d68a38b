import { createHash } from "node:crypto";
import { mkdir, open, rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { HttpError } from "../../../http/http-error.ts";
import { StoreError } from "../../../store/store-error.ts";
import type { Context } from "../../context.ts";
import type { ReceivedFile } from "./file-rows.ts";

/** Reserves room on the disk for a file that is about to be received, until disposed of. */
export type ReserveRoom = (folder: string, length: number) => Promise<Disposable>;

/**
 * Refuses files for which the disk has no room (507), before anything is written. A part of the disk stays free: the database
 * may be on it too, and everything that writes would fail.
 */
export function createRoom(): ReserveRoom {
  let reserved = 0;
  return async (folder, length) => {
    reserved += length;
    const release = () => {
      reserved -= length;
    };
    try {
      const { blocks, bavail, bsize } = await statfs(folder);
      if (reserved > (bavail - blocks * KEPT_FREE) * bsize) throw new StoreError("full", "the disk has no room");
    } catch (error) {
      release();
      throw error;
    }
    return { [Symbol.dispose]: release };
  };
}

const KEPT_FREE = 0.05;

/** Writes a body to a new file of the stage, which is on the disk before this resolves. Nothing stays if that fails. */
export async function receiveFile(
  body: Readable | null,
  { stage, length }: { readonly stage: string; readonly length: number },
  { newId, stagedFiles }: Pick<Context, "newId" | "stagedFiles">,
): Promise<ReceivedFile> {
  const file = newId();
  const path = join(stagedFiles.folder, stage, file);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    const { size, digest } = await write(body, path);
    if (size !== length) throw brokenOff();
    await syncFolderOf(path);
    return { file, size, digest };
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

// The last sync must not take longer than a connection may be silent.
const SYNC_BYTES = 128 * 1024 * 1024;

async function write(body: Readable | null, path: string): Promise<Omit<ReceivedFile, "file">> {
  const hash = createHash("sha256");
  let size = 0;
  let unsynced = 0;
  await using file = await open(path, "wx", 0o600);
  // The connection is needed for the reply, also when writing fails.
  for await (const chunk of body?.iterator({ destroyOnReturn: false }) ?? []) {
    const bytes: Buffer = chunk;
    hash.update(bytes);
    size += bytes.length;
    await file.appendFile(bytes);
    unsynced += bytes.length;
    if (unsynced < SYNC_BYTES) continue;
    await file.datasync();
    unsynced = 0;
  }
  await file.sync();
  return { size, digest: hash.digest("hex") };
}

/** 400: the client has gone, so that nobody reads this. */
export function brokenOff(): HttpError {
  return new HttpError(400, "bad-request", "the file did not arrive as a whole");
}

// The errors where folders cannot be synced (some network file systems).
const UNSYNCED: readonly string[] = ["EISDIR", "EPERM", "EINVAL", "ENOTSUP"];

async function syncFolderOf(path: string): Promise<void> {
  await using folder = await open(dirname(path));
  await folder.sync().catch((error: unknown) => {
    if (!(error instanceof Error && "code" in error && UNSYNCED.includes(String(error.code)))) throw error;
  });
}
