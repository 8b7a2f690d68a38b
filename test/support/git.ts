import { execFile, execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./folder.ts";

const identity = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" };
const committer = { GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" };
const isolated = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };

/** Runs git in a folder, with no configuration but the folder's own; answers what it printed. */
export async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: folder, ...identity, ...committer, ...isolated };
  const { stdout } = await promisify(execFile)("git", args, { cwd: folder, env });
  return stdout.trim();
}

/** Commits everything in a folder, making it a repository first where it is none; answers the commit. */
export async function commitAll(folder: string, message: string): Promise<string> {
  await git(folder, "init", "--quiet", "--initial-branch", "main");
  await git(folder, "add", "--all");
  await git(folder, "commit", "--quiet", "--message", message);
  return git(folder, "rev-parse", "HEAD");
}

/** A folder with a `git` that calls the real one, and notes in a file with which arguments: when it has ended, or when it begins. */
export async function notingGit(log: string, when: "ended" | "begins" = "ended"): Promise<string> {
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const bin = await temporaryFolder();
  const note = `echo "$@" >> "${log}"`;
  const script =
    when === "begins" ? `${note}\nexec "${real}" "$@"` : `"${real}" "$@"; status=$?\n${note}\nexit $status`;
  await writeFile(join(bin, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return bin;
}
