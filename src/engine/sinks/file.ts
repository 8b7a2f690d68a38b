// src/engine/sinks: where one-time tokens go. See docs/architecture.md#one-time-tokens.

import { closeSync, fsync, openSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Identity, splitIdentity } from "../../core/manifest.ts";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { ensureOwnFolder, requireOwnFolder } from "../../files/own-folder.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { UnsafePathError } from "../../files/unsafe-path-error.ts";
import { openTemporaryFile, renameNoReplace, type TemporaryFile } from "../../files/write-file.ts";
import { storageErrorAt } from "../../store/store-error.ts";
import type { Sink, SinkPlace, SinkType } from "../token-sink.ts";

// As large as any token, so that a full disk is noticed before there is a token to store.
const MAX_TOKEN_BYTES = 64 * 1024;

// Only the flush is asynchronous: the other calls are faster than a thread switch.
const synced = promisify(fsync);

// A write takes longer than this, so no check, however recent, can predict the disk when the token arrives.
const CHECK_TTL_MS = 100;

/** Stores tokens as files in the state folder; the default sink. */
export const sink: SinkType = {
  name: "file",
  isDefault: true,
  open: fileSink,
};

/** A check of a folder, and the time until which its result is valid. */
type Check = { readonly done: Promise<void>; until: number };

/**
 * Stores tokens as files of mode 0600 under `STATE/tokens/<server>/<kind>/<name>`, and never overwrites one. Refuses
 * folders there that the user does not own.
 */
export function fileSink({ folder, server, clock }: Pick<SinkPlace, "folder" | "server" | "clock">): Sink {
  const top = join(folder, "tokens", fileName(server.toLowerCase()));
  requireOwnFolders(top);
  const path = (identity: Identity): string => {
    const { kind, key } = splitIdentity(identity);
    return join(top, kind, fileName(key));
  };
  const checks = new Map<string, Check>();
  const syncs = new Map<string, () => Promise<void>>();
  const syncFolder = (folder: string): Promise<void> => {
    const sync = syncs.get(folder) ?? sharing(() => folderSynced(folder));
    syncs.set(folder, sync);
    return sync();
  };
  return {
    // Calls in quick succession share the result: it depends on the folder, not the name.
    check: (identity) => {
      const folder = dirname(path(identity));
      const known = checks.get(folder);
      if (known !== undefined && clock.monotonic() < known.until) return known.done;
      const check: Check = { done: checkWritable(path(identity)), until: Number.POSITIVE_INFINITY };
      checks.set(folder, check);
      const setExpiry = (): void => {
        check.until = clock.monotonic() + CHECK_TTL_MS;
      };
      check.done.then(setExpiry, setExpiry);
      return check.done;
    },
    deliver: async (identity, token) => {
      const content = `${token.open()}\n`;
      using draft = await writeDraft(path(identity), content);
      // Awaited here, since the end of this block deletes the draft.
      return await publish(draft, path(identity), { content, syncFolder });
    },
  };
}

// Checks existing folders before the run begins.
function requireOwnFolders(top: string): void {
  if (lstatOrNull(top) === null) return;
  for (const folder of [dirname(top), top]) requireOwnFolder(folder);
  const entries = readdirSync(top, { withFileTypes: true });
  for (const entry of entries) if (!entry.isFile()) requireOwnFolder(join(top, entry.name));
}

async function checkWritable(path: string): Promise<void> {
  try {
    using draft = await writeDraft(path, " ".repeat(MAX_TOKEN_BYTES));
    const kept = `${draft.path}.kept`;
    if (renameNoReplace(draft, kept)) unlinkSync(kept);
  } catch (cause) {
    throw new Error(storageErrorAt(dirname(path), cause), { cause });
  }
}

/** A name as one path segment: letters, digits, dots, dashes and underscores are kept, other characters become `_`. */
function fileName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, "_");
  return /^\.+$/.test(safe) ? safe.replaceAll(".", "_") : safe;
}

type Publishing = { readonly content: string; readonly syncFolder: (folder: string) => Promise<void> };

// The file appears complete or not at all, and never replaces another one.
async function publish(draft: TemporaryFile, path: string, { content, syncFolder }: Publishing): Promise<string> {
  for (let copy = 1; ; copy += 1) {
    const candidate = copy === 1 ? path : `${path}.${copy}`;
    const isOurs = renameNoReplace(draft, candidate);
    if (isOurs) await syncFolder(dirname(path));
    if (holds(candidate, content)) return candidate;
    if (isOurs) throw new Error(`the token in ${candidate} does not read back`);
  }
}

// A file that the user does not own holds no token, and is left alone.
function holds(path: string, content: string): boolean {
  try {
    return readOwnFile(path, { limit: MAX_TOKEN_BYTES, isSecret: true })?.toString("utf8") === content;
  } catch (error) {
    if (error instanceof UnsafePathError) return false;
    throw error;
  }
}

async function writeDraft(path: string, content: string): Promise<TemporaryFile> {
  const folder = dirname(path);
  for (const one of [dirname(dirname(folder)), dirname(folder), folder]) ensureOwnFolder(one);
  using stack = new DisposableStack();
  const draft = stack.use(await openTemporaryFile(path));
  writeFileSync(draft.descriptor, content);
  await synced(draft.descriptor);
  stack.move();
  return draft;
}

/** Coalesces calls: calls before the work begins share it, and later calls share the next run. */
function sharing(work: () => Promise<void>): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  return () => {
    next ??= last.then(() => {
      next = null;
      const done = work();
      last = done.catch(() => undefined);
      return done;
    });
    return next;
  };
}

async function folderSynced(folder: string): Promise<void> {
  const descriptor = openSync(folder, "r");
  try {
    await synced(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
