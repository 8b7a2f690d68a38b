import { realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { compareText, type Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { isBelow, startsOf } from "./folder.ts";
import { listTree, prefixOf, readBlobHead, readBlobs, resolveCommit, type TreeEntry } from "./git.ts";
import {
  IGNORE_FILE_BYTES,
  ignoreFiles,
  isIgnoredBy,
  isManifestFile,
  isPassedOver,
  type Scope,
  scopeOf,
} from "./ignore.ts";
import type { Limits } from "./limits.ts";
import { HEAD_BYTES } from "./open.ts";
import { fileDiagnostic, type Revision, type SourceFile } from "./revision.ts";

/** Which commit is read, and what of it. */
export type CommitOptions = {
  /** The source's root: a folder of a checkout, or a bare repository. */
  readonly root: string;
  readonly ref: string;
  /** Files and folders below the root that hold manifests; the whole root without. */
  readonly paths?: readonly string[];
  readonly cwd: string;
  readonly limits: Limits;
};

type Stop = { readonly signal: AbortSignal };

/** Reads a commit of the local repository as the source would be there, without checking anything out. */
export async function readRef(options: CommitOptions, stop: Stop): Promise<Revision> {
  const root = realpathSync(options.root);
  const commit = await resolveCommit(root, options.ref, stop);
  const prefix = await prefixOf(root, stop);
  const tree = await listTree(root, commit, stop);
  const starts = startsOf(root, options.paths).map((start) => prefix + start);
  const isTaken = await selection(root, tree, prefix, starts, stop);
  const entries = tree.filter(({ path }) => isTaken(path)).toSorted((a, b) => compareText(a.path, b.path));
  const missing = starts.find((start) => start !== prefix && !tree.some(({ path }) => isBelow(path, start)));
  if (missing !== undefined && options.paths) throw noPath(missing.slice(prefix.length), options.ref);
  const place = { root, prefix, cwd: realpathSync(options.cwd), limits: options.limits };
  const regular = entries.filter(({ mode }) => mode.startsWith("100"));
  return { commit, root, files: await readFiles(place, regular, stop), diagnostics: passedOver(place, entries) };
}

/** One file of a commit, by its path below the root; null when the commit has none there. */
export async function readFileAt(
  { root, ref, path, cwd, limits }: CommitOptions & { readonly path: string },
  stop: Stop,
): Promise<SourceFile | null> {
  const commit = await resolveCommit(root, ref, stop);
  const prefix = await prefixOf(root, stop);
  const entry = (await listTree(root, commit, stop)).find((each) => each.path === prefix + path);
  if (entry === undefined || !entry.mode.startsWith("100")) return null;
  const [file] = await readFiles({ root: realpathSync(root), prefix, cwd: realpathSync(cwd), limits }, [entry], stop);
  return file ?? null;
}

type Place = { readonly root: string; readonly prefix: string; readonly cwd: string; readonly limits: Limits };

async function readFiles(place: Place, entries: readonly TreeEntry[], stop: Stop): Promise<readonly SourceFile[]> {
  const { root, prefix, limits } = place;
  const small = entries.filter(({ size }) => size <= limits.fileBytes);
  const total = small.reduce((sum, { size }) => sum + size, 0);
  if (total > limits.totalBytes)
    throw new HoldfastError("invalid", "the commit's manifest files hold too much together", {
      hint: "Narrow it with `paths`.",
    });
  const contents = await readBlobs(
    root,
    small.map(({ blob }) => blob),
    stop,
  );
  const bytesOf = new Map(small.map(({ path }, index) => [path, contents[index] ?? new Uint8Array()]));
  const files: SourceFile[] = [];
  for (const { path, blob, size } of entries) {
    const bytes = bytesOf.get(path) ?? (await readBlobHead(root, blob, Math.min(HEAD_BYTES, limits.fileBytes), stop));
    files.push({ path: path.slice(prefix.length), display: display(place, path), bytes, size, blob });
  }
  return files;
}

function passedOver(place: Place, entries: readonly TreeEntry[]): readonly Diagnostic[] {
  return entries.flatMap(({ mode, path }) => {
    if (mode.startsWith("100")) return [];
    const what = mode === "120000" ? "a symbolic link" : "another repository";
    return [
      fileDiagnostic(
        "warning",
        "not-a-regular-file",
        display(place, path),
        `${what}, passed over`,
        "Only regular files are read.",
      ),
    ];
  });
}

function display({ root, prefix, cwd }: Place, path: string): string {
  return relative(cwd, join(root, path.slice(prefix.length)))
    .split(sep)
    .join("/");
}

function noPath(path: string, ref: string): HoldfastError {
  return new HoldfastError("invalid", `the path ${path} does not exist at ${JSON.stringify(ref)}`, {
    hint: "Correct `paths`, or the path given.",
  });
}

// The same rules as for a folder: what is passed over there is passed over here.
async function selection(
  root: string,
  tree: readonly TreeEntry[],
  prefix: string,
  starts: readonly string[],
  stop: Stop,
): Promise<(path: string) => boolean> {
  const scopes = await scopesOf(root, tree, stop);
  const around = (path: string) => scopes.filter(({ base }) => path.startsWith(base));
  const outer = prefix !== "" && isIgnoredBy(around(prefix.slice(0, -1)), prefix.slice(0, -1), true);
  const inForce = outer ? scopes.filter(({ base }) => base.startsWith(prefix)) : scopes;
  const folders = new Map<string, boolean>();
  const isOpen = (folder: string, start: string): boolean => {
    if (folder === "" || isBelow(start, folder)) return true;
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const slash = folder.lastIndexOf("/");
    const name = folder.slice(slash + 1);
    const own = inForce.filter(({ base }) => folder.startsWith(base));
    const open =
      isOpen(folder.slice(0, Math.max(0, slash)), start) && !isPassedOver(name) && !isIgnoredBy(own, folder, true);
    folders.set(folder, open);
    return open;
  };
  return (path) => {
    const start = starts.find((each) => isBelow(path, each.replace(/\/$/, "")));
    if (start === undefined) return false;
    const slash = path.lastIndexOf("/");
    if (!isManifestFile(path.slice(slash + 1))) return false;
    if (path === start) return true;
    if (!isOpen(path.slice(0, Math.max(0, slash)), start.replace(/\/$/, ""))) return false;
    return !isIgnoredBy(
      inForce.filter(({ base }) => path.startsWith(base)),
      path,
      false,
    );
  };
}

async function scopesOf(root: string, tree: readonly TreeEntry[], stop: Stop): Promise<readonly Scope[]> {
  const entries = tree.filter(({ mode, path, size }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return mode.startsWith("100") && size <= IGNORE_FILE_BYTES && ignoreFiles.some((own) => own === name);
  });
  const contents = await readBlobs(
    root,
    entries.map(({ blob }) => blob),
    stop,
  );
  const byFolder = Map.groupBy(entries.keys(), (index) => {
    const path = entries[index]?.path ?? "";
    return path.slice(0, path.lastIndexOf("/") + 1);
  });
  return [...byFolder]
    .toSorted(([a], [b]) => a.length - b.length)
    .flatMap(
      ([base, indexes]) =>
        scopeOf(
          base,
          indexes.map((index) => Buffer.from(contents[index] ?? []).toString("utf8")),
        ) ?? [],
    );
}
