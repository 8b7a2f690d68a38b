import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { temporaryFolder } from "./folder.ts";
import { git } from "./git.ts";

/** Runs git with an input; answers what it printed. */
async function feed(root: string, args: readonly string[], input: Iterable<string>): Promise<string> {
  const child = spawn("git", args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  Readable.from(input).pipe(child.stdin);
  const [printed] = await Promise.all([text(child.stdout), once(child, "close")]);
  return printed.trim();
}

/** A repository without commits, whose branch will be `main`. */
export async function emptyRepository(): Promise<string> {
  const root = await temporaryFolder();
  await git(root, "init", "--quiet", "--initial-branch", "main");
  return root;
}

/** Commits entries with the same content under many names, without writing a file for each; answers the commit. */
export async function commitNames(
  root: string,
  mode: string,
  content: string,
  names: Iterable<string>,
): Promise<string> {
  const blob = await feed(root, ["hash-object", "-w", "--stdin"], [content]);
  const lines = Iterator.from(names).map((name) => `${mode} blob ${blob}\t${name}\n`);
  return commitTree(root, await feed(root, ["mktree"], lines));
}

function commitTree(root: string, tree: string): Promise<string> {
  return feed(root, ["-c", "user.name=a", "-c", "user.email=a", "commit-tree", tree, "-m", "Many"], []);
}

/** Names made from 0, 1, 2 and so on. */
export function* numbered(count: number, name: (nth: number) => string): Generator<string> {
  for (let nth = 0; nth < count; nth += 1) yield name(nth);
}

/** A commit whose tree names the blob `10 ** depth` times, and has only a few objects. */
export async function commitBomb(root: string, depth: number, content = "x"): Promise<string> {
  let [mode, type] = ["100644", "blob"];
  let id = await feed(root, ["hash-object", "-w", "--stdin"], [content]);
  for (let level = 0; level < depth; level += 1) {
    const entries = [...numbered(10, (nth) => `${mode} ${type} ${id}\tn${nth}${type === "blob" ? ".yaml" : ""}\n`)];
    id = await feed(root, ["mktree"], entries);
    [mode, type] = ["040000", "tree"];
  }
  return commitTree(root, id);
}
