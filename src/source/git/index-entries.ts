import type { Stop } from "../../clock/clock.ts";
import type { Stamp } from "../file-stamp.ts";
import { runGit } from "../remote/run-git.ts";
import { environmentOf, folderOf, repositoryFailure } from "./git.ts";
import type { Repository } from "./repository-paths.ts";

/** What the index knows of a tracked path. */
export type IndexEntry = {
  readonly mode: string;
  /** Null while the path is unmerged, or only intended to be added. */
  readonly blob: string | null;
  /** Whether git takes the file for unchanged without looking at it (assume-unchanged). */
  readonly isAssumed: boolean;
  /** Whether the file is not checked out (skip-worktree). */
  readonly isSkipped: boolean;
  /** The stamp of the file when git last found it unchanged. */
  readonly stamp: Stamp | null;
};

// `<tag> <mode> <id> <stage>\t<path>`, then what `--debug` adds.
const HEADER = /^([A-Za-z?]) (\d{6}) ([0-9a-f]+) ([0-3])\t/;
const DETAILS =
  /^ {2}ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n.*\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n/;

const INTENT_TO_ADD = 0x20000000;

/** The entries of an index by path, relative to the top; only those at or below the given paths, if any. */
export async function readGitIndex(
  repository: Repository,
  { paths = [], signal }: Stop & { readonly paths?: readonly string[] },
): Promise<ReadonlyMap<string, IndexEntry>> {
  const args = ["--literal-pathspecs", "ls-files", "--stage", "-v", "-z", "--debug", "--full-name", "--", ...paths];
  const run = { folder: folderOf(repository), env: environmentOf(repository), signal };
  const { code, stdout, stderr } = await runGit(args, run);
  if (code !== 0) throw repositoryFailure(repository, new Error(stderr));
  const entries = new Map<string, IndexEntry>();
  const [first = "", ...rest] = stdout.split("\0");
  let header = first;
  // Each part has the details of one entry, and the header of the next.
  for (const part of rest) {
    const details = DETAILS.exec(part);
    const path = header.slice(header.indexOf("\t") + 1);
    const entry = entryOf(header, details);
    if (entry !== null) entries.set(path, entry);
    header = part.slice(details?.[0].length ?? 0);
  }
  return entries;
}

function entryOf(header: string, details: RegExpExecArray | null): IndexEntry | null {
  const [, tag = "", mode = "", blob = "", stage = ""] = HEADER.exec(header) ?? [];
  if (mode === "") return null;
  const flags = Number.parseInt(details?.[7] ?? "0", 16);
  return {
    mode,
    blob: stage === "0" && (flags & INTENT_TO_ADD) === 0 ? blob : null,
    // A lower-case tag means assume-unchanged.
    isAssumed: tag !== tag.toUpperCase(),
    isSkipped: tag.toUpperCase() === "S",
    stamp: details === null ? null : stampIn(details),
  };
}

function stampIn([, changed, changedRest, modified, modifiedRest, inode, size]: RegExpExecArray): Stamp {
  return {
    size: Number(size),
    modified: Number(modified) * 1e3 + Number(modifiedRest) / 1e6,
    changed: Number(changed) * 1e3 + Number(changedRest) / 1e6,
    inode: Number(inode),
  };
}

/** The index keeps the lower 32 bits of sizes and inodes. */
const WORD = 2 ** 32;

/** How git compares a file with its stamp in the index (`core.checkStat`, `core.trustCtime`). */
export type StampCheck = {
  /** Whole seconds and the size alone. */
  readonly isMinimal: boolean;
  readonly trustsChangeTime: boolean;
};

/** Whether a file has the stamp that the index has of it. */
export function hasIndexStamp(now: Stamp, known: Stamp, { isMinimal, trustsChangeTime }: StampCheck): boolean {
  const isSame = isMinimal
    ? (a: number, b: number) => Math.floor(a / 1e3) === Math.floor(b / 1e3)
    : (a: number, b: number) => Math.abs(a - b) < 1e-3;
  return (
    now.size % WORD === known.size &&
    (isMinimal || now.inode % WORD === known.inode) &&
    isSame(now.modified, known.modified) &&
    (!trustsChangeTime || isSame(now.changed, known.changed))
  );
}
