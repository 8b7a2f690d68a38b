import { realpathSync } from "node:fs";
import { posix } from "node:path";
import type { Stop } from "../clock/clock.ts";
import type { HistoryReach } from "../contract/generated/output.ts";
import type { Removal } from "../core/removal.ts";
import { type AppliedCommit, type AppliedRef, findApplied } from "./git/applied-commit.ts";
import { readBlobs } from "./git/blobs.ts";
import {
  changesOn,
  firstParentLine,
  isShallow,
  type LineChange,
  type LineCommit,
  type ReplacedFile,
  readableBlobs,
} from "./git/first-parent-line.ts";
import { openCheckout } from "./git/open-checkout.ts";
import { readCommitFiles } from "./git/read-commit.ts";
import { prefixIn, type Repository } from "./git/repository-paths.ts";
import { selectTreeEntries } from "./git/select-tree-entries.ts";
import { listTree } from "./git/tree.ts";
import type { TreeEntry } from "./git/tree-entry.ts";
import { IGNORE_FILE_BYTES, ignoreFiles, isManifestFile } from "./ignore-files.ts";
import type { Pace } from "./pacer.ts";
import type { SourceOptions } from "./read-source.ts";
import { type RevisionFiles, withoutOtherPatches } from "./revision.ts";
import { NO_FOLDERS, realRoot, startsOf } from "./source-root.ts";

/** Time for reading a history and for the questions to it, in milliseconds. */
const HISTORY_MS = 5000;

/** Time for reading it, so that some is left for the questions. */
const READING_MS = 3000;

/** Bytes of earlier files that are kept in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Commits that one git process compares. */
const BATCH = 250;

/** A step of a history; without a commit it is what is not committed. */
export type HistoryStep = Removal & Pick<LineChange, "files">;

/** The changes of a source's files, newest first, and the contents before and after them. */
export type HistoryFiles = {
  readonly steps: readonly HistoryStep[];
  /** Content by blob id. */
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly reach: HistoryReach;
  /** How much of the time is left, in milliseconds. */
  readonly leftMs: number;
};

/** Which history is read. */
export type HistoryOptions = Pick<SourceOptions, "root" | "cwd" | "base" | "commits" | "limits" | "patches"> & {
  /** The commit at which it begins. */
  readonly tip: string;
  /** The number of commits to read. */
  readonly most: number;
  /** Files and folders below the root that hold manifests. */
  readonly paths: readonly string[] | undefined;
  /** The files of a folder that differs from the commit; null if it does not. */
  readonly uncommitted: RevisionFiles | null;
};

/** Reads what the newest commits of the first-parent line have changed; null if there is no repository. */
export async function readCommitHistory(options: HistoryOptions, pace: Pace): Promise<HistoryFiles | null> {
  using resources = new DisposableStack();
  const opened = await openOwnCheckout(options, resources, pace);
  return opened && (await new HistoryLine({ ...options, ...opened }).read(pace));
}

type Place = HistoryOptions & { readonly repository: Repository };

/** The steps that were read so far. */
class HistoryLine {
  readonly #place: Place;
  readonly #steps: HistoryStep[] = [];
  readonly #contents = new Map<string, Buffer>();
  #bytes = 0;

  constructor(place: Place) {
    this.#place = place;
  }

  async read({ clock, signal }: Pace): Promise<HistoryFiles> {
    const since = clock.monotonic();
    const timeUp = clock.timeout(READING_MS);
    const pace = { clock, signal: AbortSignal.any([signal, timeUp]) };
    let commits = 0;
    let ended: HistoryReach["ended"] = "cut";
    try {
      const line = await firstParentLine(this.#place.repository, this.#place, pace);
      if (this.#place.uncommitted !== null) await this.#add(await uncommittedSteps(this.#place, pace), pace);
      while (commits < line.length && (await this.#addBatch(line.slice(commits, commits + BATCH), pace)))
        commits = Math.min(line.length, commits + BATCH);
      if (commits === line.length) ended = endOf(line, this.#place);
    } catch (error) {
      signal.throwIfAborted();
      if (!timeUp.aborted) throw error;
    }
    const leftMs = HISTORY_MS - (clock.monotonic() - since);
    return { steps: this.#steps, contents: this.#contents, reach: { commits, ended }, leftMs };
  }

  async #addBatch(commits: readonly LineCommit[], pace: Pace): Promise<boolean> {
    const changes = await changesOn(this.#place.repository, commits, pace);
    return changes !== null && (await this.#add(changes, pace));
  }

  async #add(changes: readonly HistoryStep[], pace: Pace): Promise<boolean> {
    const { repository, limits } = this.#place;
    const steps = await ofSource(changes, this.#place, pace);
    const named = steps.flatMap(({ files }) =>
      files.flatMap(({ before, after }) => [before, ...(after ? [after] : [])]),
    );
    const unread = [...new Set(named)].filter((blob) => !this.#contents.has(blob));
    const blobs = await readableBlobs(repository, unread, { ...pace, mostBytes: limits.fileBytes });
    for (const [at, bytes] of (await readBlobs(repository, blobs, pace)).entries()) {
      this.#contents.set(blobs[at] ?? "", Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      this.#bytes += bytes.length;
    }
    this.#steps.push(...steps);
    return this.#bytes <= MAX_BYTES;
  }
}

function endOf(line: readonly LineCommit[], { repository, most }: Place): HistoryReach["ended"] {
  if (line.at(-1)?.parent !== null) return line.length < most ? "cut" : "limit";
  return isShallow(repository) ? "shallow" : "start";
}

// The rules of the newest commit decide which files belong to the source.
async function ofSource(steps: readonly HistoryStep[], place: Place, pace: Pace): Promise<readonly HistoryStep[]> {
  const paths = new Set(steps.flatMap(({ files }) => files.map(({ path }) => path)).filter(isManifestPath));
  if (paths.size === 0) return steps.map((step) => ({ ...step, files: [] }));
  const { repository, root, cwd, limits } = place;
  const prefix = prefixIn(repository, root);
  const starts = startsOf(root, place.paths).map((start) => (prefix + start).replace(/\/$/, ""));
  const tree = [...(await ignoreFilesAt(place, pace)), ...[...paths].map((path) => ({ ...FILE, path }))];
  const selecting = { root, repository, prefix, cwd: realpathSync(cwd), limits };
  const { entries } = await selectTreeEntries(selecting, tree, starts, pace);
  const selected = new Set(entries.map(({ path }) => path));
  return steps.map((step) => ({ ...step, files: step.files.filter(({ path }) => selected.has(path)) }));
}

const FILE = { mode: "100644", blob: "", size: 0 } as const;

const isManifestPath = (path: string) => isManifestFile(posix.basename(path));

async function ignoreFilesAt({ repository, tip }: Place, pace: Pace): Promise<readonly TreeEntry[]> {
  const tree = await listTree(repository, tip, pace, { withSizes: false });
  const found = tree.filter(({ path }) => ignoreFiles.some((name) => name === posix.basename(path)));
  const blobs = found.map(({ blob }) => blob);
  const readable = new Set(await readableBlobs(repository, blobs, { ...pace, mostBytes: IGNORE_FILE_BYTES }));
  return found.filter(({ blob }) => readable.has(blob));
}

async function uncommittedSteps(
  { repository, root, tip, uncommitted }: Place,
  pace: Pace,
): Promise<readonly HistoryStep[]> {
  const prefix = prefixIn(repository, root);
  const now = new Map(uncommitted?.files.map(({ path, blob }) => [prefix + path, blob]));
  const tree = await listTree(repository, tip, pace, { withSizes: false });
  const files = tree.flatMap(({ mode, path, blob }): ReplacedFile[] => {
    const isSame = !path.startsWith(prefix) || !mode.startsWith("100") || now.get(path) === blob;
    return isSame ? [] : [{ path, before: blob, after: null }];
  });
  return [{ commit: null, author: null, at: null, files }];
}

/** The commit that a ref names, and its files; null files if it is not trusted. */
type AppliedFiles = { readonly applied: AppliedCommit; readonly files: RevisionFiles | null };

/** Reads the commit that was applied last, if the commit of the source contains it; null if there is no such ref. */
export async function readApplied(
  { applied: ref, tip, ...options }: HistoryOptions & { readonly applied: AppliedRef },
  pace: Pace,
): Promise<AppliedFiles | null> {
  using resources = new DisposableStack();
  const opened = await openOwnCheckout(options, resources, pace);
  if (opened === null) return null;
  const { repository, root } = opened;
  const base = { ref: "the source", commit: tip };
  const applied = await findApplied({ ...repository, isShallow: isShallow(repository) }, ref, base, pace);
  if (applied === null) return null;
  if (applied.is === "untrusted") return { applied, files: null };
  const { paths, patches = NO_FOLDERS, cwd, limits } = options;
  const reading = { root, repository, ref: applied.commit, cwd, limits, patches, ...(paths ? { paths } : {}) };
  return { applied, files: withoutOtherPatches(await readCommitFiles(reading, pace), patches) };
}

/** A repository whose commits can be read, and the source's root in it. */
type OpenedRepository = { readonly repository: Repository; readonly root: string };

/** Opens the repository of a source again, after the source was read; null if its commits cannot be read. */
async function openOwnCheckout(
  { commits, base, cwd, root: named }: SourceOptions,
  resources: DisposableStack,
  stop: Stop,
): Promise<OpenedRepository | null> {
  if (commits !== null) return { repository: commits.repository, root: commits.repository.gitFolder };
  const root = realRoot(named);
  const { repository, isUnreadable } = await openCheckout({ root, cwd, base, isCommitOptional: true }, resources, stop);
  return repository === null || isUnreadable ? null : { repository, root };
}
