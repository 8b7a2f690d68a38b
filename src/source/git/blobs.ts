import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import type { Stop } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import { runGit } from "../remote/run-git.ts";
import type { BlobCollector } from "./commit-reads.ts";
import { environmentOf, folderOf, type ObjectFormat } from "./git.ts";
import type { Repository } from "./repository-paths.ts";

/** The git blob id of the bytes. */
export function blobId(bytes: Uint8Array, format: ObjectFormat): string {
  return createHash(format).update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** The content of each blob, in the order requested. A blob that is requested several times is read and held once. */
export async function readBlobs(
  repository: Repository,
  blobs: readonly string[],
  stop: Stop,
): Promise<readonly Uint8Array[]> {
  const distinct = [...new Set(blobs)];
  const read = blobCollector(distinct.length);
  await collectBlobs(repository, distinct, read, stop);
  if (distinct.length === blobs.length) return read.contents;
  const contents = new Map(distinct.map((blob, index) => [blob, read.contents[index] ?? new Uint8Array()]));
  return blobs.map((blob) => contents.get(blob) ?? new Uint8Array());
}

/** The content of each blob or commit, in the order requested; null if one of them exceeds the limit. */
export async function readSmallBlobs(
  repository: Repository,
  blobs: readonly string[],
  { mostBytes, ...stop }: Stop & { readonly mostBytes: number },
): Promise<readonly Uint8Array[] | null> {
  const read = blobCollector(blobs.length, mostBytes);
  await collectBlobs(repository, blobs, read, stop);
  return read.isTooLarge() ? null : read.contents;
}

async function collectBlobs(
  repository: Repository,
  blobs: readonly string[],
  read: BlobCollector,
  { signal }: Stop,
): Promise<void> {
  if (blobs.length === 0) return;
  if (repository.reads !== undefined) {
    await repository.reads.collect(blobs, read, { signal });
    if (!read.isTooLarge() && read.contents.length !== blobs.length) throw unreadableBlobs();
    return;
  }
  const child = spawn("git", ["cat-file", "--batch"], {
    cwd: folderOf(repository),
    env: environmentOf(repository),
    signal,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  // Awaited below; until then a failure must not count as unhandled.
  ended.catch(() => undefined);
  child.stdin.on("error", () => undefined);
  child.stderr.resume();
  child.stdin.end(`${blobs.join("\n")}\n`);
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    read.add(part);
    if (read.isTooLarge()) return;
  }
  const code = await ended;
  if (code !== 0 || read.contents.length !== blobs.length) throw unreadableBlobs();
}

// Each entry of the output is `<id> <type> <size>`, a line feed, the content, a line feed.
function blobCollector(count: number, mostBytes = Number.POSITIVE_INFINITY): BlobCollector {
  const contents: Uint8Array[] = [];
  let header = "";
  let body: { readonly bytes: Uint8Array; filled: number } | null = null;
  let isBroken = false;
  let isTooLarge = false;
  const add = (part: Buffer): void => {
    let at = 0;
    while (at < part.length && contents.length < count && !isBroken) {
      if (body === null) {
        const end = part.indexOf(0x0a, at);
        header += part.toString("latin1", at, end < 0 ? part.length : end);
        at = end < 0 ? part.length : end + 1;
        if (end < 0) continue;
        const size = /^[0-9a-f]+ (?:blob|commit) (\d+)$/.exec(header)?.[1];
        isTooLarge = Number(size) > mostBytes;
        isBroken = size === undefined || isTooLarge;
        if (isBroken) return;
        header = "";
        body = { bytes: Buffer.allocUnsafeSlow(Number(size) + 1), filled: 0 };
      }
      const taken = part.subarray(at, at + body.bytes.length - body.filled);
      body.bytes.set(taken, body.filled);
      body.filled += taken.length;
      at += taken.length;
      if (body.filled < body.bytes.length) continue;
      contents.push(body.bytes.subarray(0, -1));
      body = null;
    }
  };
  const isDone = () => isBroken || contents.length === count;
  return { contents, add, isDone, isTooLarge: () => isTooLarge };
}

function unreadableBlobs(): HoldfastError {
  return new HoldfastError("error", "git could not read the files of the commit", {
    hint: "Check the repository with `git fsck`.",
  });
}

/** The size of each blob, in the order requested; NaN if git does not have it. */
export async function blobSizes(
  repository: Repository,
  blobs: readonly string[],
  { signal }: Stop,
): Promise<readonly number[]> {
  if (blobs.length === 0) return [];
  const run = { folder: folderOf(repository), env: environmentOf(repository), signal };
  const input = blobs.map((blob) => `${blob}\n`);
  const { code, stdout } = await runGit(["cat-file", "--batch-check=%(objectsize)"], { ...run, input });
  if (code !== 0) throw unreadableBlobs();
  // `<id> missing` is not a number.
  return stdout.trimEnd().split("\n").map(Number);
}

/** The first bytes of a large blob, without reading the rest. */
export async function readBlobHead(
  repository: Repository,
  blob: string,
  length: number,
  { signal }: Stop,
): Promise<Uint8Array> {
  const child = spawn("git", ["cat-file", "blob", blob], {
    cwd: folderOf(repository),
    env: environmentOf(repository),
    signal,
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.once("error", () => undefined);
  const parts: Buffer[] = [];
  let total = 0;
  for await (const part of child.stdout as AsyncIterable<Buffer>) {
    parts.push(part);
    total += part.length;
    if (total >= length) break;
  }
  child.kill();
  signal.throwIfAborted();
  // The blob is longer than that, so git could not read it.
  if (total < length) throw unreadableBlobs();
  return Buffer.concat(parts).subarray(0, length);
}
