import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { localEnvironment } from "../remote/git-environment.ts";
import { runGit } from "../remote/run-git.ts";
import { commitTime } from "./first-parent-line.ts";
import { environmentOf } from "./git.ts";
import type { Repository } from "./repository-paths.ts";
import { temporaryRepository } from "./temporary-repository.ts";

/** The last author of a line. */
export type LineAuthor = {
  readonly commit: string;
  readonly author: string;
  /** ISO time of the commit. */
  readonly at: string;
  /** Whether this is the oldest commit of a shallow clone, so that the line may be from an earlier commit. */
  readonly isOldest: boolean;
};

/** A line of a file in a commit, or all lines from there to the end of its YAML document. */
type BlamedPlace = {
  readonly commit: string;
  readonly path: string;
  readonly line: number;
  /** @default "line" */
  readonly upTo?: "line" | "document";
};

/** The commit that last changed a place in a file, as seen from a commit; null if git cannot find it. */
export async function blameLine(
  repository: Repository,
  { commit, path, line, upTo = "line" }: BlamedPlace,
  { signal }: Stop,
): Promise<LineAuthor | null> {
  const { top, gitFolder } = repository;
  // Settings of the user or of the repository change what blame prints, or name a file that is missing.
  using temporary = top === null ? null : temporaryRepository(repository);
  const env = temporary === null ? localEnvironment(gitFolder) : environmentOf(temporary);
  const range = `${line},${upTo === "line" ? line : ""}`;
  const options = ["--porcelain", "--encoding=UTF-8", "--no-textconv", "-L", range];
  const blamed = await runGit(["blame", ...options, commit, "--", path], { folder: top ?? gitFolder, env, signal });
  if (blamed.code !== 0) return null;
  // The root commit of a complete history is a boundary too.
  const isShallow = existsSync(join(repository.commonFolder, "shallow"));
  const entries = documentOf(entriesOf(blamed.stdout));
  // A commit comes after those that it descends from, whatever their times say: several may be of one second, or of a
  // machine whose clock was wrong. Only commits of branches that were merged are compared by their times.
  const commits = new Set(entries.map(({ id }) => id));
  const tips = await runGit(["merge-base", "--independent", ...commits], { folder: top ?? gitFolder, env, signal });
  if (tips.code !== 0) return null;
  const newest = entries
    .filter(({ id }) => tips.stdout.includes(id))
    .toSorted((a, b) => b.committedAt - a.committedAt)[0];
  if (newest === undefined) return null;
  const { id, author, authoredAt, isBoundary } = newest;
  return { commit: id, author, at: commitTime(authoredAt), isOldest: isShallow && isBoundary };
}

type Commit = {
  readonly id: string;
  readonly author: string;
  readonly authoredAt: number;
  readonly committedAt: number;
  readonly isBoundary: boolean;
};

type Entry = Commit & {
  /** The blamed line. */
  readonly text: string;
};

// Each entry ends with the line that it is about, after a tab; only the first one of a commit describes it.
function entriesOf(porcelain: string): readonly Entry[] {
  const entries: Entry[] = [];
  const commits = new Map<string, Commit>();
  let head: string[] = [];
  for (const line of porcelain.split("\n")) {
    if (!line.startsWith("\t")) {
      head.push(line);
      continue;
    }
    const id = head[0]?.split(" ")[0] ?? "";
    const commit = commits.get(id) ?? commitOf(id, head);
    commits.set(id, commit);
    entries.push({ ...commit, text: line.slice(1) });
    head = [];
  }
  return entries;
}

function commitOf(id: string, lines: readonly string[]): Commit {
  const field = (name: string): string => lines.find((one) => one.startsWith(`${name} `))?.slice(name.length + 1) ?? "";
  return {
    id,
    author: `${field("author")} ${field("author-mail")}`.trim(),
    authoredAt: Number(field("author-time")),
    committedAt: Number(field("committer-time")),
    isBoundary: lines.includes("boundary"),
  };
}

function documentOf(entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex(({ text }, index) => index > 0 && /^(?:---|\.\.\.)(?:\s|$)/.test(text));
  return end < 0 ? entries : entries.slice(0, end);
}
