import { join } from "node:path";
import { basename } from "node:path/posix";
import type { Stop } from "../../clock/clock.ts";
import type { Stamp } from "../file-stamp.ts";
import { fileStatus } from "../read-regular-file.ts";
import { runGit } from "../remote/run-git.ts";
import { type ConversionSettings, conversionSettings } from "./conversion-settings.ts";
import { environmentOf, repositoryFailure } from "./git.ts";
import { hasIndexStamp, type IndexEntry, readGitIndex } from "./index-entries.ts";
import { locateRepository, type Repository } from "./repository-paths.ts";
import { copyIndex, type TemporaryRepository, temporaryRepository } from "./temporary-repository.ts";

const ATTRIBUTES_FILE = ".gitattributes";

/** A tracked file whose bytes differ from its entry in the index; the path is relative to the top. */
export type DifferingFile = { readonly path: string; readonly stamp: Stamp; readonly entry: IndexEntry };

/** The index of a checkout, and what git says by it. It is read in a temporary repository, which is removed when disposed. */
export type IndexView = Disposable & {
  readonly repository: TemporaryRepository;
  /** By path, relative to the top. */
  readonly entries: ReadonlyMap<string, IndexEntry>;
  /** Whether only a part of the tree is checked out. */
  readonly isSparse: boolean;
  /** Whether links are checked out as links; else as files that hold their target. */
  readonly hasLinks: boolean;
  /** The paths of those files that git calls unchanged without running a filter. */
  readonly unchangedAmong: (files: readonly DifferingFile[], stop: Stop) => Promise<ReadonlySet<string>>;
};

/**
 * Whether git takes a file as the index has it, whatever is in the folder. In a sparse checkout, a file that is there
 * counts.
 */
export function isTakenFromIndex(
  { isSparse }: IndexView,
  { isAssumed, isSkipped }: IndexEntry,
  isThere: boolean,
): boolean {
  return isAssumed || (isSkipped && !(isSparse && isThere));
}

/** Opens the index of the checkout that a folder lies in; of everything, or of some paths relative to the top. */
export async function openIndexView(
  folder: string,
  { isForeign, paths = [], signal }: Stop & { readonly isForeign: boolean; readonly paths?: readonly string[] },
): Promise<IndexView | null> {
  const located = locateRepository(folder);
  if (located === null || located.top === null) return null;
  const settings = await conversionSettings(located, { isForeign, signal });
  const repository = temporaryRepository(located, { settings: settings.configuration, hasRefs: false });
  try {
    copyIndex(located, repository);
    const entries = await readGitIndex(repository, { paths: [...paths, ...paths.flatMap(attributesFor)], signal });
    const writtenAt = fileStatus(join(located.gitFolder, "index"))?.mtimeMs ?? 0;
    return {
      ...settings,
      repository,
      entries,
      unchangedAmong: (files, stop) => unchangedFiles(repository, entries, files, { writtenAt, ...settings, ...stop }),
      [Symbol.dispose]: () => repository[Symbol.dispose](),
    };
  } catch (error) {
    repository[Symbol.dispose]();
    throw error;
  }
}

// The attributes of a path may be in each folder above it.
function attributesFor(path: string): readonly string[] {
  return path.split("/").map((_, at, steps) => [...steps.slice(0, at), ATTRIBUTES_FILE].join("/"));
}

async function unchangedFiles(
  repository: TemporaryRepository,
  entries: ReadonlyMap<string, IndexEntry>,
  files: readonly DifferingFile[],
  { writtenAt, stampCheck, ...stop }: Stop & ConversionSettings & { readonly writtenAt: number },
): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set();
  const filtered = await filteredPaths(repository, files, stop);
  const unchanged = new Set<string>();
  const unknown: DifferingFile[] = [];
  for (const file of files) {
    const { path, stamp, entry } = file;
    const hasStamp = entry.stamp !== null && hasIndexStamp(stamp, entry.stamp, stampCheck);
    const isFiltered = filtered.has(path);
    // A file as young as the index may have changed since without its stamp changing. Only its content tells then,
    // which is not to be had of a filter that is not run.
    if (hasStamp && (isFiltered || stamp.modified < writtenAt)) unchanged.add(path);
    else if (!isFiltered && entry.blob !== null) unknown.push(file);
  }
  const modified = await modifiedPaths(repository, entries, unknown, stop);
  for (const { path } of unknown) if (!modified.has(path)) unchanged.add(path);
  return unchanged;
}

async function filteredPaths(
  repository: TemporaryRepository,
  files: readonly DifferingFile[],
  stop: Stop,
): Promise<ReadonlySet<string>> {
  const input = files.map(({ path }) => `${path}\0`);
  const { stdout } = await runAtTop(repository, ["check-attr", "--stdin", "-z", "filter"], { ...stop, input });
  // Path, attribute and value alternate.
  const words = stdout.split("\0");
  const paths = words.flatMap((path, index) => {
    const value = index % 3 === 0 ? (words[index + 2] ?? "unspecified") : "unset";
    return value === "unspecified" || value === "unset" ? [] : [path];
  });
  return new Set(paths);
}

/**
 * The files whose content is not that of their entries now, after undoing `eol`, `ident` and `working-tree-encoding`.
 * Git compares them with an index of ours that has no stamps, so that it reads each. Beside the files this index has what
 * git undoes them by: the attributes that are not on disk, and whether the blob itself has CRLF. The temporary repository
 * defines no filter.
 */
async function modifiedPaths(
  repository: TemporaryRepository,
  entries: ReadonlyMap<string, IndexEntry>,
  files: readonly DifferingFile[],
  stop: Stop,
): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set();
  const attributes = [...entries].flatMap(([path, entry]) =>
    basename(path) === ATTRIBUTES_FILE ? [{ path, entry }] : [],
  );
  const input = [...attributes, ...files].flatMap(({ path, entry: { mode, blob } }) =>
    blob === null ? [] : [`${mode} ${blob} 0\t${path}\0`],
  );
  const indexFile = join(repository.gitFolder, "compared-index");
  const written = await runAtTop(repository, ["update-index", "-z", "--index-info"], { ...stop, input, indexFile });
  const compared = await runAtTop(repository, ["-c", "core.fileMode=false", "ls-files", "--modified", "-z"], {
    ...stop,
    indexFile,
  });
  const failed = [written, compared].find(({ code }) => code !== 0);
  if (failed !== undefined) throw repositoryFailure(repository, new Error(failed.stderr));
  return new Set(compared.stdout.split("\0"));
}

function runAtTop(
  repository: Repository & { readonly top: string },
  args: readonly string[],
  { input = [], indexFile, signal }: Stop & { readonly input?: Iterable<string>; readonly indexFile?: string },
) {
  const env = { ...environmentOf(repository), ...(indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile }) };
  return runGit(args, { folder: repository.top, env, signal, input });
}
