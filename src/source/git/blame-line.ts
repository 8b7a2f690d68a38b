import { existsSync } from "node:fs";
import { join } from "node:path";
import { localEnvironment } from "../remote/git-environment.ts";
import { runGit } from "../remote/run-git.ts";
import { environmentOf, type Stop } from "./git.ts";
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

/** The commit that last changed a line of a file, as seen from a commit; null if git cannot find it. */
export async function blameLine(
  repository: Repository,
  { commit, path, line }: { readonly commit: string; readonly path: string; readonly line: number },
  { signal }: Stop,
): Promise<LineAuthor | null> {
  const { top, gitFolder } = repository;
  // Settings of the user or of the repository change what blame prints, or name a file that is missing.
  using temporary = top === null ? null : temporaryRepository(repository);
  const env = temporary === null ? localEnvironment(gitFolder) : environmentOf(temporary);
  const options = ["--porcelain", "--encoding=UTF-8", "--no-textconv", "-L", `${line},${line}`];
  const blamed = await runGit(["blame", ...options, commit, "--", path], { folder: top ?? gitFolder, env, signal });
  if (blamed.code !== 0) return null;
  // The root commit of a complete history is a boundary too.
  const isShallow = existsSync(join(repository.commonFolder, "shallow"));
  const [head = "", ...lines] = blamed.stdout.split("\n");
  const field = (name: string): string => lines.find((one) => one.startsWith(`${name} `))?.slice(name.length + 1) ?? "";
  const at = new Date(Number(field("author-time")) * 1000).toISOString();
  const author = `${field("author")} ${field("author-mail")}`.trim();
  return { commit: head.split(" ")[0] ?? "", author, at, isOldest: isShallow && lines.includes("boundary") };
}
