import { realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { compareText, type Diagnostic } from "../core/diagnostic.ts";
import { HoldfastError } from "../core/errors.ts";
import { isBelow } from "./clean.ts";
import { digestOf } from "./content.ts";
import { startsOf } from "./folder.ts";
import { listTree, noRepository, readBlobHead, readBlobs, resolveCommit, type TreeEntry } from "./git.ts";
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
import { prefixIn, type Repository } from "./repository.ts";
import { fileDiagnostic, type Revision, type SourceFile } from "./revision.ts";

/** Which commit is read, and what of it. */
export type CommitOptions = {
  /** The source's root: a folder of a checkout, or a bare repository. */
  readonly root: string;
  /** The repository that the root lies in. */
  readonly repository: Repository | null;
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
  const { repository } = options;
  if (repository === null) throw noRepository(root);
  const commit = await resolveCommit(repository, options.ref, stop);
  const prefix = prefixIn(repository, root);
  const tree = await listTree(repository, commit, stop);
  const starts = startsOf(root, options.paths).map((start) => (prefix + start).replace(/\/$/, ""));
  const isTaken = await selection(repository, tree, starts, stop);
  const entries = tree.filter(({ path }) => isTaken(path)).toSorted((a, b) => compareText(a.path, b.path));
  const missing = starts.find((start) => !tree.some(({ path }) => isBelow(path, start)));
  if (missing !== undefined && options.paths !== undefined) throw noPath(missing.slice(prefix.length), options.ref);
  const place = { root, repository, prefix, cwd: realpathSync(options.cwd), limits: options.limits };
  const regular = entries.filter(({ mode }) => mode.startsWith("100"));
  const files = await readFiles(place, regular, stop);
  return { commit, at: 0, root, files, diagnostics: passedOver(place, entries) };
}

/** One file of a commit, by its path below the root; null when the commit has none there. */
export async function readFileAt(
  { path, ...options }: CommitOptions & { readonly path: string },
  stop: Stop,
): Promise<SourceFile | null> {
  const root = realpathSync(options.root);
  const { repository, ref, limits } = options;
  if (repository === null) throw noRepository(root);
  const commit = await resolveCommit(repository, ref, stop);
  const prefix = prefixIn(repository, root);
  const entry = (await listTree(repository, commit, stop)).find((each) => each.path === prefix + path);
  if (entry === undefined || !entry.mode.startsWith("100")) return null;
  const place = { root, repository, prefix, cwd: realpathSync(options.cwd), limits };
  const [file] = await readFiles(place, [entry], stop);
  return file ?? null;
}

type Place = {
  readonly root: string;
  readonly repository: Repository;
  readonly prefix: string;
  readonly cwd: string;
  readonly limits: Limits;
};

async function readFiles(place: Place, entries: readonly TreeEntry[], stop: Stop): Promise<readonly SourceFile[]> {
  const { repository, prefix, limits } = place;
  const small = entries.filter(({ size }) => size <= limits.fileBytes);
  const total = small.reduce((sum, { size }) => sum + size, 0);
  if (total > limits.totalBytes)
    throw new HoldfastError("invalid", "the commit's manifest files hold too much together", {
      hint: "Narrow it with `paths`.",
    });
  const contents = await readBlobs(
    repository,
    small.map(({ blob }) => blob),
    stop,
  );
  const bytesOf = new Map(small.map(({ path }, index) => [path, contents[index] ?? new Uint8Array()]));
  const files: SourceFile[] = [];
  for (const { path, blob, size } of entries) {
    const bytes =
      bytesOf.get(path) ?? (await readBlobHead(repository, blob, Math.min(HEAD_BYTES, limits.fileBytes), stop));
    const digest = size === bytes.length ? digestOf(bytes) : null;
    const name = { path: path.slice(prefix.length), display: display(place, path) };
    files.push({ ...name, bytes: () => bytes, size, digest, stamp: null, blob });
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

type Selector = (path: string) => boolean;

// The same rules as for a folder: what is passed over there is passed over here.
async function selection(
  repository: Repository,
  tree: readonly TreeEntry[],
  starts: readonly string[],
  stop: Stop,
): Promise<Selector> {
  const scopes = await scopesOf(repository, tree, stop);
  const selectors = starts.map((start) => selectorBelow(start, scopes));
  return (path) => selectors.some((isTaken) => isTaken(path));
}

// A starting point is taken even where an ignore file names it; that file then has no say below.
function selectorBelow(start: string, all: readonly Scope[]): Selector {
  const scopes = all.filter(
    (scope) => start === "" || !start.startsWith(scope.base) || !isIgnoredBy([scope], start, true),
  );
  const inForce = (path: string) => scopes.filter(({ base }) => path.startsWith(base));
  const known = new Map<string, boolean>([[start, true]]);
  const isOpen = (folder: string): boolean => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const open =
      isOpen(parentOf(folder)) && !isPassedOver(nameOf(folder)) && !isIgnoredBy(inForce(folder), folder, true);
    known.set(folder, open);
    return open;
  };
  return (path) => {
    if (!isBelow(path, start) || !isManifestFile(nameOf(path))) return false;
    return path === start || (isOpen(parentOf(path)) && !isIgnoredBy(inForce(path), path, false));
  };
}

const nameOf = (path: string) => path.slice(path.lastIndexOf("/") + 1);

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf("/")));

async function scopesOf(repository: Repository, tree: readonly TreeEntry[], stop: Stop): Promise<readonly Scope[]> {
  const entries = tree.filter(({ mode, path, size }) => {
    return mode.startsWith("100") && size <= IGNORE_FILE_BYTES && ignoreFiles.some((own) => own === nameOf(path));
  });
  const contents = await readBlobs(
    repository,
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
