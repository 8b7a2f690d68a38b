import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { askOfCommits, runInRepository } from "./base-commit.ts";
import type { Repository } from "./repository-paths.ts";

/** Who made a commit, and when. */
export type CommitAuthor = {
  readonly commit: string;
  readonly author: string;
  /** ISO time of the author. */
  readonly at: string;
};

/** The last time that a JavaScript date can have, in seconds since the epoch. */
const LAST_TIME = 8.64e12;

/** The ISO time of a commit, from seconds since the epoch. Anyone can write a later time into a commit than a date can have. */
export function commitTime(seconds: number): string {
  return new Date(Math.min(seconds, LAST_TIME) * 1000).toISOString();
}

/** A commit of a first-parent line; its parent is null at the end of what the repository has. */
export type LineCommit = CommitAuthor & { readonly parent: string | null };

/** A regular file that a commit changed or removed. */
export type ReplacedFile = {
  /** Relative to the top of the repository. */
  readonly path: string;
  /** The blob before the commit. */
  readonly before: string;
  /** The blob after it; null if the commit removed the file. */
  readonly after: string | null;
};

/** A commit, and the files that it changed or removed, compared with its first parent. */
export type LineChange = CommitAuthor & { readonly files: readonly ReplacedFile[] };

/** The newest commits of the first-parent line, newest first; empty if git cannot read it. */
export async function firstParentLine(
  repository: Repository,
  { tip, most }: { readonly tip: string; readonly most: number },
  stop: Stop,
): Promise<readonly LineCommit[]> {
  const options = ["--first-parent", `--max-count=${most}`, "--format=%H%x00%P%x00%an <%ae>%x00%at"];
  const { code, stdout } = await askOfCommits(repository, ["rev-list", ...options, tip, "--"], stop);
  if (code !== 0) return [];
  return stdout.split("\n").flatMap((line) => {
    const [commit = "", parents, author = "", authoredAt] = line.split("\0");
    if (parents === undefined) return [];
    return [{ commit, parent: parents.split(" ")[0] || null, author, at: commitTime(Number(authoredAt)) }];
  });
}

/** What each commit of a line changed or removed; null if git cannot compare one of them. */
export async function changesOn(
  repository: Repository,
  commits: readonly LineCommit[],
  stop: Stop,
): Promise<readonly LineChange[] | null> {
  const compared = commits.filter(({ parent }) => parent !== null);
  if (compared.length === 0) return [];
  const input = compared.map(({ commit, parent }) => `${commit} ${parent}\n`);
  const options = ["--stdin", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv"];
  const { code, stdout } = await askOfCommits(repository, ["diff-tree", ...options], { ...stop, input });
  if (code !== 0) return null;
  const files = filesByCommit(stdout);
  return compared.map(({ commit, author, at }) => ({ commit, author, at, files: files.get(commit) ?? [] }));
}

// A commit id, then for each of its files `:<modes> <blobs> <status>` and the path, all ended by NUL.
function filesByCommit(stdout: string): ReadonlyMap<string, readonly ReplacedFile[]> {
  const found = new Map<string, ReplacedFile[]>();
  const words = stdout.split("\0");
  let files: ReplacedFile[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith(":")) {
      files = [];
      found.set(word, files);
      continue;
    }
    at += 1;
    const [before = "", after = "", blob = "", now = ""] = word.slice(1).split(" ");
    if (before.startsWith("100"))
      files.push({ path: words[at] ?? "", before: blob, after: after.startsWith("100") ? now : null });
  }
  return found;
}

/** Whether a repository is a shallow clone, so that its line may end before the first commit. */
export function isShallow({ commonFolder }: Repository): boolean {
  return existsSync(join(commonFolder, "shallow"));
}

/** The blobs that exist and are small enough to be read. */
export async function readableBlobs(
  repository: Repository,
  blobs: readonly string[],
  { mostBytes, ...stop }: Stop & { readonly mostBytes: number },
): Promise<readonly string[]> {
  if (blobs.length === 0) return [];
  const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
  const { stdout } = await runInRepository(repository, args, { ...stop, input: blobs.map((blob) => `${blob}\n`) });
  return stdout.split("\n").flatMap((line) => {
    const [blob = "", size = ""] = line.split(" ");
    return /^\d+$/.test(size) && Number(size) <= mostBytes ? [blob] : [];
  });
}
