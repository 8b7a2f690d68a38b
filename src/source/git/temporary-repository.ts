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
import { quotedPath } from "./git.ts";
import type { Repository } from "./repository-paths.ts";

/** A temporary git directory of ours that sees the commits of a checkout; it is removed when disposed. */
export type TemporaryRepository = Repository &
  Disposable & {
    readonly top: string;
    /** Whether the checkout is a shallow clone. */
    readonly isShallow: boolean;
    /** Whether the checkout is a partial clone, which lacks some objects. */
    readonly isPartial: boolean;
  };

const REF_BYTES = 4096;
const LIST_BYTES = 256 * 1024 * 1024;

/** The content of a ref file: a commit id, or the name of another ref. */
const REF = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|ref: refs\/[^\n]{1,1000})\s*$/;

/** Refs outside `refs/` that pipelines use to name a base. */
const TOP_REFS = ["FETCH_HEAD", "ORIG_HEAD", "MERGE_HEAD"];

/**
 * Creates a bare git directory that borrows the objects of a checkout and has copies of its HEAD, refs and shallow
 * commits. New objects are written only here. It lacks the checkout's configuration, hooks and filters, so that the
 * owner of the checkout cannot make git run a program.
 */
export function temporaryRepository(
  { top, gitFolder, commonFolder }: Repository,
  { settings = "", hasRefs = true }: { readonly settings?: string; readonly hasRefs?: boolean } = {},
): TemporaryRepository {
  const folder = createFolder();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (const each of ["info", "objects/info", "objects/pack", "refs/heads"]) {
      mkdirSync(join(folder, each), { recursive: true });
    }
    const copy = (from: string, name: string, limit: number): void => {
      const bytes = bytesOf(join(from, name), limit);
      if (bytes !== null) writeFileSync(join(folder, name), bytes);
    };
    writeFileSync(join(folder, "config"), configOf(commonFolder) + settings);
    const objects = objectsOf(commonFolder);
    writeFileSync(join(folder, "objects/info/alternates"), `${quotedPath(objects)}\n`);
    // Without HEAD, git does not accept a folder as a repository.
    writeFileSync(join(folder, "HEAD"), "ref: refs/heads/none\n");
    if (hasRefs) copyRef(join(gitFolder, "HEAD"), join(folder, "HEAD"));
    for (const name of hasRefs ? TOP_REFS : []) copy(gitFolder, name, REF_BYTES * 16);
    // Refs are copied before packed-refs: git adds a ref to packed-refs before it removes the file, so none is missed.
    if (hasRefs) copyRefs(join(commonFolder, "refs"), join(folder, "refs"));
    for (const name of hasRefs ? ["packed-refs", "shallow"] : []) copy(commonFolder, name, LIST_BYTES);
    for (const name of ["info/exclude", "info/attributes"]) copy(commonFolder, name, LIST_BYTES);
    // A bare repository has no top: paths are relative to its folder.
    const repository = { top: top ?? gitFolder, gitFolder: folder, commonFolder: folder, isTemporary: true } as const;
    const isShallow = (bytesOf(join(folder, "shallow"), LIST_BYTES)?.length ?? 0) > 0;
    const isPartial = namesIn(join(objects, "pack")).some((name) => name.endsWith(".promisor"));
    return { ...repository, isShallow, isPartial, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Copies the index, which lists the tracked files; a split one has a second file. */
export function copyIndex({ gitFolder }: Repository, to: Repository): void {
  for (const name of namesIn(gitFolder).filter((one) => /^(?:index|sharedindex\.[0-9a-f]+)$/.test(one))) {
    const bytes = bytesOf(join(gitFolder, name), LIST_BYTES);
    if (bytes !== null) writeFileSync(join(to.gitFolder, name), bytes);
  }
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function createFolder(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "holdfast-git-")));
  } catch (cause) {
    throw new HoldfastError("error", `no temporary folder can be created in ${tmpdir()}`, {
      hint: "name one that can be written with TMPDIR, or an existing state folder with --state",
      cause,
    });
  }
}

// Only the object format is taken from the checkout's own configuration.
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

/** The content of a regular file; null if it does not exist. Throws if it exists and cannot be read. */
function bytesOf(path: string, limit: number): Buffer | null {
  const opened = readRegularFile(path, limit);
  if (opened.is === "read" && opened.size === opened.bytes.length) return Buffer.from(opened.bytes);
  if (opened.is === "gone" || lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  throw new HoldfastError("error", `${path} cannot be read`, { hint: "allow reading it, or check the repository" });
}
