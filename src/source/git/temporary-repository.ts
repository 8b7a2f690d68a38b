import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HoldfastError } from "../../core/errors.ts";
import { readRegularFile } from "../read-regular-file.ts";
import type { Repository } from "./repository-paths.ts";

/** A git directory of our own that sees a checkout's commits; it ends with whoever made it. */
export type TemporaryRepository = Repository &
  Disposable & {
    readonly top: string;
    /** Whether the checkout's history ends before its beginning. */
    readonly isShallow: boolean;
    /** Whether some of the checkout's objects were left at the remote. */
    readonly isPartial: boolean;
  };

const REF_BYTES = 4096;
const LIST_BYTES = 256 * 1024 * 1024;

/** What a ref holds: a commit, or the name of another ref. */
const REF = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|ref: refs\/[^\n]{1,1000})\s*$/;

/** Refs beside `refs/` that a base is named by in pipelines. */
const TOP_REFS = ["FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD"];

/**
 * Makes a bare git directory that borrows the objects of a checkout and has copies of its HEAD, refs and shallow commits.
 * What is computed is written here alone. The checkout's configuration, hooks and filters are not here, so that whoever
 * owns the checkout cannot make git run anything.
 */
export function temporaryRepository({ top, gitFolder, commonFolder }: Repository): TemporaryRepository {
  const folder = makeFolder();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const each of ["info", "objects/info", "objects/pack", "refs/heads"]) {
      mkdirSync(join(folder, each), { recursive: true });
    }
    const copy = (from: string, name: string, limit: number): void => {
      const bytes = bytesOf(join(from, name), limit);
      if (bytes !== null) writeFileSync(join(folder, name), bytes);
    };
    writeFileSync(join(folder, "config"), configOf(commonFolder));
    const objects = objectsOf(commonFolder);
    writeFileSync(join(folder, "objects/info/alternates"), `${quotedPath(objects)}\n`);
    // Without one git takes no folder for a repository.
    writeFileSync(join(folder, "HEAD"), "ref: refs/heads/none\n");
    copyRef(join(gitFolder, "HEAD"), join(folder, "HEAD"));
    for (const name of TOP_REFS) copy(gitFolder, name, REF_BYTES * 16);
    // A ref that is packed meanwhile is in the list before its file is removed.
    copyRefs(join(commonFolder, "refs"), join(folder, "refs"));
    for (const name of ["packed-refs", "shallow"]) copy(commonFolder, name, LIST_BYTES);
    copy(commonFolder, "info/exclude", LIST_BYTES);
    // Of a bare repository the folder itself is what its trees are seen from.
    const repository = { top: top ?? gitFolder, gitFolder: folder, commonFolder: folder, isTemporary: true } as const;
    const isShallow = (bytesOf(join(folder, "shallow"), LIST_BYTES)?.length ?? 0) > 0;
    const isPartial = namesIn(join(objects, "pack")).some((name) => name.endsWith(".promisor"));
    return { ...repository, isShallow, isPartial, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Copies the index too, by which git knows what it tracks. */
export function copyIndex({ gitFolder }: Repository, to: Repository): void {
  const bytes = bytesOf(join(gitFolder, "index"), LIST_BYTES);
  if (bytes !== null) writeFileSync(join(to.gitFolder, "index"), bytes);
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function makeFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "holdfast-git-")));
  } catch (cause) {
    throw new HoldfastError("error", `no temporary folder can be made in ${tmpdir()}`, {
      hint: "name a folder that can be written with TMPDIR",
      cause,
    });
  }
}

// Of the checkout's own configuration only the kind of its object names is taken.
function configOf(commonFolder: string): string {
  const bytes = bytesOf(join(commonFolder, "config"), LIST_BYTES);
  const isSha256 = /^(?:\s*\[extensions\])?\s*objectformat\s*=\s*"?sha256"?\s*$/im.test(bytes?.toString("utf8") ?? "");
  const version = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n";
  return isSha256 ? `${version}[extensions]\n\tobjectFormat = sha256\n` : version;
}

function objectsOf(commonFolder: string): string {
  try {
    return realpathSync(join(commonFolder, "objects"));
  } catch (cause) {
    throw new HoldfastError("error", `the objects of the repository ${commonFolder} cannot be read`, { cause });
  }
}

// Git reads an entry that begins with a quote as C does.
function quotedPath(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
}

function copyRefs(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isFile()) copyRef(source, target);
    if (!entry.isDirectory()) continue;
    mkdirSync(target, { recursive: true });
    copyRefs(source, target);
  }
}

function copyRef(from: string, to: string): void {
  const text = bytesOf(from, REF_BYTES)?.toString("utf8");
  if (text !== undefined && REF.test(text)) writeFileSync(to, text);
}

/** A regular file's content; null where there is none. What is there and cannot be read is an error. */
function bytesOf(path: string, limit: number): Buffer | null {
  const opened = readRegularFile(path, limit);
  if (opened.is === "read" && opened.size === opened.bytes.length) return Buffer.from(opened.bytes);
  if (opened.is === "gone" || lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  throw new HoldfastError("error", `${path} cannot be read`, { hint: "allow reading it, or check the repository" });
}
