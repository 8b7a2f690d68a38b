import { realpathSync } from "node:fs";
import { join, posix, relative, sep } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { blobDigests } from "../../contract/content-digest.ts";
import { compareText } from "../../contract/json.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import { HoldfastError } from "../../core/errors.ts";
import { linkDiagnostic, specialFileWarning, submoduleWarning } from "../file-diagnostic.ts";
import { isManifestFile, OWN_IGNORE_FILE } from "../ignore-files.ts";
import { type Limits, tooMany } from "../limits.ts";
import { type Pace, pacer } from "../pacer.ts";
import { HEAD_BYTES } from "../read-regular-file.ts";
import { filesByPath, type RevisionFiles, type SourceFile } from "../revision.ts";
import { optionalStarts, type PatchFolders, startsOf } from "../source-root.ts";
import { readBlobHead, readBlobs, readSmallBlobs } from "./blobs.ts";
import { commitFiles } from "./commit-file.ts";
import { noRepository, resolveCommit } from "./git.ts";
import { prefixIn, type Repository } from "./repository-paths.ts";
import {
  linksToFolders,
  linkTargets,
  refuseTooMuch,
  requirePresent,
  selectTreeEntries,
} from "./select-tree-entries.ts";
import { listTree, listTreeAround } from "./tree.ts";
import { isBelow, LINK_MODE, SUBMODULE_MODE, type TreeChange, type TreeEntry } from "./tree-entry.ts";

/** Which commit is read, and which of its files. */
export type CommitOptions = {
  /** The source's root: a folder of a checkout, or a bare repository. */
  readonly root: string;
  /** The repository that the root lies in. */
  readonly repository: Repository | null;
  readonly ref: string;
  /** Files and folders below the root that hold manifests. @default the whole root */
  readonly paths?: readonly string[];
  readonly patches?: PatchFolders;
  readonly cwd: string;
  readonly limits: Limits;
  /**
   * An earlier commit of this repository, read with the same options: files that are equal in both are not read again.
   */
  readonly before?: CommitRead | null;
  /** Whether the repository is ours and keeps the objects, so that contents need not stay in memory. @default false */
  readonly isOurs?: boolean;
};

/** A commit that was read, its paths and folders of policies, and the changes since; null changes mean that git cannot compare them. */
export type CommitRead = {
  readonly files: RevisionFiles;
  readonly paths: readonly string[] | undefined;
  /** @default none */
  readonly policies?: readonly string[];
  readonly changes: readonly TreeChange[] | null;
};

/** Beyond this number of changed files, the whole commit is read. */
const MAX_CHANGED = 200;

/** Reads the source at a commit of the local repository, without checking it out. */
export async function readCommitFiles(options: CommitOptions, pace: Pace): Promise<RevisionFiles> {
  const root = realpathSync(options.root);
  const { repository, patches: { policies = [] } = {} } = options;
  if (repository === null) throw noRepository(root);
  const commit = await idOf(options, repository, pace);
  const changed = await readChanged({ ...options, repository, root, commit }, pace);
  if (changed !== null) return changed;
  const prefix = prefixIn(repository, root);
  const starts = startsOf(root, options.paths, options.patches).map((start) => (prefix + start).replace(/\/$/, ""));
  const listing = { paths: starts, most: options.limits.entries };
  const { around: tree, all } = await listTreeAround(repository, commit, pace, listing);
  const place = { ...options, root, repository, prefix, cwd: realpathSync(options.cwd) };
  const selected = await selectTreeEntries(
    { ...place, policies: policies.map((folder) => prefix + folder) },
    tree,
    starts,
    pace,
  );
  const entries = selected.entries.toSorted((a, b) => compareText(a.path, b.path));
  const holds = (start: string, { mode, path }: TreeEntry): boolean =>
    isBelow(path, start) || (mode === SUBMODULE_MODE && isBelow(start, path));
  const optional = new Set(optionalStarts(options.patches ?? {}).map((start) => prefix + start));
  const needed = starts.filter((start) => !optional.has(start));
  const missing = needed.find((start) => !tree.some((entry) => holds(start, entry)));
  if (missing !== undefined && options.paths !== undefined) throw noPath(missing.slice(prefix.length), options.ref);
  const regular = entries.filter(({ mode }) => mode.startsWith("100"));
  const { files, unread } = await readFiles(place, regular, pace);
  const special = [...entries, ...(await linksToFolders(place, all, selected.links, pace))];
  const links = entries.filter(({ mode, path }) => mode === LINK_MODE && isManifestFile(posix.basename(path)));
  const diagnostics = [...selected.faults, ...skippedEntries(place, special, await linkTargets(place, links, pace))];
  const earlier = options.before?.files.commit ?? null;
  return {
    commit,
    at: 0,
    root,
    files,
    filesByPath: filesByPath(files),
    diagnostics,
    leftOut: selected.leftOut,
    ...(earlier === null ? {} : { since: { commit: earlier, isNext: false, changed: unread } }),
  };
}

// The commits of our own repository are already named by id.
function idOf({ ref, isOurs = false }: CommitOptions, repository: Repository, pace: Pace): string | Promise<string> {
  return isOurs ? ref : resolveCommit(repository, ref, pace);
}

type Changing = CommitOptions & { readonly repository: Repository; readonly commit: string };

// If only the contents of existing files changed, the selection of files is the same, and only those files are read.
async function readChanged(options: Changing, pace: Pace): Promise<RevisionFiles | null> {
  const { before = null, repository, root, commit, paths } = options;
  const earlier = before?.files.commit ?? null;
  if (before === null || earlier === null || before.files.root !== root) return null;
  const { changes } = before;
  if (!options.isOurs || changes === null || !isDeepStrictEqual(before.paths, paths)) return null;
  if (!isDeepStrictEqual(before.policies ?? [], options.patches?.policies ?? [])) return null;
  if (changes.some(({ path, isContent }) => !isContent || isIgnoreFile(path))) return null;
  const blobOf = new Map(changes.map(({ path, blob }) => [path, blob]));
  const known = before.files.filesByPath.among(blobOf.keys());
  if (known.length > MAX_CHANGED) return null;
  const blobs = known.map(({ path, blob }) => blobOf.get(path) ?? blob ?? "");
  const limit = { ...pace, mostBytes: options.limits.fileBytes };
  const read = await readSmallBlobs(repository, earlier === commit ? blobs : [...blobs, commit], limit);
  if (read === null) return null;
  const contents = read.slice(0, blobs.length);
  const isNext = firstParentOf(read[blobs.length]) === earlier;
  const heads = known.map(({ path, display: shown }, index) => {
    const bytes = contents[index] ?? new Uint8Array();
    return { path, display: shown, blob: blobs[index] ?? "", size: bytes.length, known: null, bytes };
  });
  const changed = await commitFiles(repository, heads, pace);
  const all = before.files.filesByPath.withReplaced(changed);
  const since = { commit: earlier, isNext, changed: new Set(changed.map(({ path }) => path)) };
  const { diagnostics, leftOut } = before.files;
  return { commit, at: 0, root, files: all.list, filesByPath: all, diagnostics, leftOut, since };
}

function firstParentOf(commit: Uint8Array = new Uint8Array()): string | null {
  return /^parent ([0-9a-f]+)$/m.exec(Buffer.from(commit).toString("latin1").split("\n\n", 1)[0] ?? "")?.[1] ?? null;
}

const isIgnoreFile = (path: string) => posix.basename(path) === OWN_IGNORE_FILE;

/** One file of a commit, by its path below the root; null if the commit does not have it. */
export async function readFileAt(
  { path, ...options }: CommitOptions & { readonly path: string },
  pace: Pace,
): Promise<SourceFile | null> {
  const root = realpathSync(options.root);
  const { repository, limits } = options;
  if (repository === null) throw noRepository(root);
  const commit = await idOf(options, repository, pace);
  const prefix = prefixIn(repository, root);
  const [entry] = await listTree(repository, commit, pace, { paths: [prefix + path] });
  if (entry?.path !== prefix + path || !entry.mode.startsWith("100")) return null;
  const place = { root, repository, prefix, cwd: realpathSync(options.cwd), limits };
  const { files } = await readFiles(place, [entry], pace);
  return files[0] ?? null;
}

type Place = {
  readonly root: string;
  readonly repository: Repository;
  readonly prefix: string;
  readonly cwd: string;
} & Pick<CommitOptions, "limits" | "before" | "isOurs">;

/** Regular files. */
type FilesRead = {
  readonly files: readonly SourceFile[];
  /** The paths of files whose content was not known. */
  readonly unread: ReadonlySet<string>;
};

/** The files of these entries, whose paths are relative to the top. */
export async function readBlobFiles(
  place: Place,
  entries: readonly TreeEntry[],
  pace: Pace,
): Promise<readonly SourceFile[]> {
  return (await readFiles(place, entries, pace)).files;
}

async function readFiles(place: Place, entries: readonly TreeEntry[], pace: Pace): Promise<FilesRead> {
  const { repository, prefix, limits, isOurs = false } = place;
  requirePresent(entries);
  const small = entries.filter(({ size }) => size <= limits.fileBytes);
  refuseTooMuch(small, limits);
  const earlier = knownDigests(place);
  const knownOf = ({ path, blob }: TreeEntry) => earlier.get(`${blob} ${path.slice(prefix.length)}`) ?? null;
  const unread = small.filter((entry) => knownOf(entry) === null);
  const contents = await readBlobs(
    repository,
    unread.map(({ blob }) => blob),
    pace,
  );
  const headOf = largeBlobReader(repository, entries, limits, pace);
  const bytesOf = new Map(unread.map(({ path }, index) => [path, contents[index] ?? new Uint8Array()]));
  const heads: Head[] = [];
  const pause = pacer(pace);
  for (const entry of entries) {
    const { path, blob, size } = entry;
    const known = knownOf(entry);
    const bytes = bytesOf.get(path) ?? (known === null ? await headOf(blob) : null);
    heads.push({ path: path.slice(prefix.length), display: display(place, path), blob, size, known, bytes });
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return {
    files: isOurs ? await commitFiles(repository, heads, pace) : await heldFiles(heads, pace),
    unread: new Set(heads.flatMap(({ path, known }) => (known === null ? [path] : []))),
  };
}

// The same blob under many names is looked into once.
function largeBlobReader(repository: Repository, entries: readonly TreeEntry[], limits: Limits, pace: Pace) {
  const large = new Set(entries.flatMap(({ blob, size }) => (size > limits.fileBytes ? [blob] : [])));
  if (large.size > limits.largeFiles)
    throw tooMany(limits.largeFiles, `files of more than ${limits.fileBytes} bytes with the name of a manifest`);
  const heads = new Map<string, Promise<Uint8Array>>();
  return (blob: string): Promise<Uint8Array> => {
    const head = heads.get(blob) ?? readBlobHead(repository, blob, Math.min(HEAD_BYTES, limits.fileBytes), pace);
    heads.set(blob, head);
    return head;
  };
}

type Head = Parameters<typeof commitFiles>[1][number];

// A temporary repository is removed after reading, so the content stays in memory.
async function heldFiles(heads: readonly Head[], pace: Pace): Promise<readonly SourceFile[]> {
  const pause = pacer(pace);
  const digestOf = blobDigests();
  const files: SourceFile[] = [];
  for (const { path, display: shown, blob, size, bytes } of heads) {
    const held = bytes ?? new Uint8Array();
    const digest = size === held.length ? digestOf(blob, held) : null;
    files.push({ path, display: shown, bytes: () => held, size, digest, stamp: null, blob });
    const pausing = pause();
    if (pausing !== undefined) await pausing;
  }
  return files;
}

// Keyed by blob id and path: a file is only recognised at its old path, since few files move.
function knownDigests({ before, isOurs = false }: Place): ReadonlyMap<string, string> {
  const digests = new Map<string, string>();
  for (const { path, blob, digest } of (isOurs && before?.files.files) || []) {
    if (blob !== null && digest !== null) digests.set(`${blob} ${path}`, digest);
  }
  return digests;
}

function skippedEntries(
  place: Place,
  entries: readonly TreeEntry[],
  targets: ReadonlyMap<string, string>,
): readonly Diagnostic[] {
  return entries.flatMap(({ mode, path }) => {
    if (mode.startsWith("100")) return [];
    if (mode !== LINK_MODE) return [submoduleWarning(display(place, path))];
    const isFolder = !isManifestFile(posix.basename(path));
    if (isFolder) return [specialFileWarning(display(place, path), "a symbolic link to a folder")];
    return [linkDiagnostic(display(place, path), targets.get(path) ?? null)];
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
