import { randomUUID } from "node:crypto";
import { type FileHandle, link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Secret } from "../contract/secret.ts";
import { type Identity, splitIdentity } from "../core/manifest.ts";

/** Where one-time tokens go. */
export type Sink = {
  readonly name: string;
  /** Fails when a token could not be kept; asked before the write that would answer one. */
  readonly check: (identity: Identity) => Promise<void>;
  /** Keeps a token durably, reads it back, and answers where it is; a token that is kept already stays where it is. */
  readonly deliver: (identity: Identity, token: Secret) => Promise<string>;
};

// As much as any token takes, so that a disk without room is noticed before there is a token to keep.
const ROOM = 64 * 1024;

/** Tokens as files of mode 0600 under `STATE/tokens/<server>/<kind>/<name>`; one that exists is never overwritten. */
export function fileSink(state: string, server: string): Sink {
  const path = (identity: Identity): string => {
    const { kind, key } = splitIdentity(identity);
    return join(state, "tokens", fileName(server.toLowerCase()), kind, fileName(key));
  };
  const looks = new Map<string, Promise<void>>();
  return {
    name: "file",
    // Whoever asks while it is looked at shares the answer: it is about the folder, whatever the name.
    check: (identity) => {
      const folder = dirname(path(identity));
      const look = looks.get(folder) ?? tryOut(path(identity)).finally(() => looks.delete(folder));
      looks.set(folder, look);
      return look;
    },
    deliver: async (identity, token) => {
      const content = `${token.open()}\n`;
      await using draft = await writeDraft(path(identity), content);
      // Awaited here: the draft goes when this block ends.
      return await publish(draft.path, path(identity), content);
    },
  };
}

async function tryOut(path: string): Promise<void> {
  await using draft = await writeDraft(path, " ".repeat(ROOM));
  await using _kept = removed(await placed(draft.path, `${draft.path}.kept`));
}

/** A name as one path segment: `_` for everything but letters, digits, dots, dashes and underscores. */
function fileName(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9._-]/g, "_");
  return /^\.+$/.test(safe) ? safe.replaceAll(".", "_") : safe;
}

// A file appears under its name whole or not at all, and never in place of another.
async function publish(draft: string, path: string, content: string): Promise<string> {
  for (let copy = 1; ; copy += 1) {
    const candidate = copy === 1 ? path : `${path}.${copy}`;
    const isOurs = (await placed(draft, candidate)) !== null;
    if (isOurs) await syncFolder(dirname(path));
    if ((await readFile(candidate, "utf8")) === content) return candidate;
    if (isOurs) throw new Error(`the token in ${candidate} does not read back`);
  }
}

type Draft = AsyncDisposable & { readonly path: string };

async function writeDraft(path: string, content: string): Promise<Draft> {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}`);
  await using stack = new AsyncDisposableStack();
  await using file = await openNew(draft);
  stack.use(removed(draft));
  await file.writeFile(content);
  await file.sync();
  const kept = stack.move();
  return { path: draft, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, "wx", 0o600);
  }
}

/** Links the draft to the path; null when something is there. */
async function placed(draft: string, path: string): Promise<string | null> {
  try {
    await link(draft, path);
    return path;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return null;
    throw error;
  }
}

function removed(path: string | null): AsyncDisposable {
  return { [Symbol.asyncDispose]: async () => (path === null ? undefined : unlink(path)) };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
