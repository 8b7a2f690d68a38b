import { execFile } from "node:child_process";
import { promisify } from "node:util";

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
