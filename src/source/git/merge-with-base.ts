import { readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { compareText } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import { IGNORE_FILE_BYTES, OWN_IGNORE_FILE } from "../ignore-files.ts";
import type { FolderFiles } from "../read-folder.ts";
import { fileStatus } from "../read-regular-file.ts";
import { type BaseCommit, gitFailure, runInRepository } from "./base-commit.ts";
import { changedFiles, type FileChange } from "./changed-files.ts";
import { quotedPath } from "./git.ts";
import { prefixIn } from "./repository-paths.ts";
import type { TemporaryRepository } from "./temporary-repository.ts";
import { headOf } from "./tree.ts";

/** A file with changes on both sides that git cannot merge. */
export type Conflict = {
  /** Relative to the top of the repository. */
  readonly path: string;
  /** The newest commit of this branch that changed it; null if none did. */
  readonly here: string | null;
  /** The newest commit of the base that changed it; null if none did. */
  readonly atBase: string | null;
};

/** A merge commit, and its conflicts, which are resolved to this branch's version, or to the base's if it has none. */
export type MergeResult = { readonly commit: string; readonly conflicts: readonly Conflict[] };

/** A folder that was read; git must not read the configuration of another user's repository. */
export type MergedFolder = FolderFiles & { readonly isForeign: boolean };

/** Merges a folder, including uncommitted changes, with the base, as a merge of the branch would. */
export async function mergeWithBase(
  repository: TemporaryRepository,
  base: BaseCommit,
  folder: MergedFolder,
  stop: Stop,
): Promise<MergeResult> {
  const branch = folder.commit ?? (await commitFolder(repository, base, folder, stop));
  const args = ["merge-tree", "--write-tree", "-z", "--messages", base.commit, branch];
  const merged = await runInRepository(repository, args, stop);
  const isKnown = merged.code === 0 || (merged.code === 1 && merged.stdout !== "");
  if (!isKnown) throw await mergeFailure(repository, base, merged, stop);
  const { tree, sides, paths } = readMerge(merged.stdout);
  const changes = [...sides].map(([path, side]) => modify(side.mode, side.blob, path));
  const whole = [modify("040000", tree, ""), ...changes];
  const commit = await importCommit(repository, { parents: [base.commit, branch], changes: whole }, base.ref, stop);
  const conflicts = await Promise.all(paths.map((path) => conflictAt(repository, base, path, stop)));
  return { commit, conflicts };
}

type Side = { readonly mode: string; readonly blob: string; readonly stage: number };

/** The output of `git merge-tree -z`: the tree, one side of each conflicting file, and all paths in conflict. */
function readMerge(stdout: string): {
  readonly tree: string;
  readonly sides: ReadonlyMap<string, Side>;
  readonly paths: readonly string[];
} {
  const [tree = "", ...rest] = stdout.split("\0");
  const end = rest.indexOf("");
  const sides = new Map<string, Side>();
  for (const line of rest.slice(0, end < 0 ? rest.length : end)) {
    const [, mode = "", blob = "", stage = "", path = ""] = /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s.exec(line) ?? [];
    const known = sides.get(path);
    // Stage 1 is the common ancestor, stage 2 the base, stage 3 this branch.
    if (known === undefined || Number(stage) > known.stage) sides.set(path, { mode, blob, stage: Number(stage) });
  }
  const named = conflictPaths(end < 0 ? [] : rest.slice(end + 1));
  return {
    tree,
    sides: new Map([...sides].filter(([, { stage }]) => stage > 1)),
    paths: unique([...sides.keys(), ...named]),
  };
}

// Each message is the number of paths, the paths, a type and a text.
function conflictPaths(fields: readonly string[]): readonly string[] {
  const paths: string[] = [];
  for (let at = 0; at < fields.length; ) {
    const count = Number(fields[at]);
    if (fields[at] === "" || !Number.isInteger(count)) break;
    if (fields[at + count + 1]?.startsWith("CONFLICT")) paths.push(...fields.slice(at + 1, at + 1 + count));
    at += count + 3;
  }
  return paths;
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].toSorted(compareText);
}

async function conflictAt(
  repository: TemporaryRepository,
  { commit, head, mergeBase }: BaseCommit,
  path: string,
  stop: Stop,
): Promise<Conflict> {
  const newest = async (side: string): Promise<string | null> => {
    const args = [
      "log",
      "-1",
      "--no-show-signature",
      "--format=%h (%an)",
      `${mergeBase}..${side}`,
      "--",
      `:(literal,top)${path}`,
    ];
    const { code, stdout } = await runInRepository(repository, args, stop);
    return code === 0 ? stdout.trim() || null : null;
  };
  return { path, here: await newest(head), atBase: await newest(commit) };
}

async function mergeFailure(
  repository: TemporaryRepository,
  { ref }: BaseCommit,
  failed: { readonly code: number | null; readonly stdout: string; readonly stderr: string },
  stop: Stop,
): Promise<HoldfastError> {
  // An older git exits with 129 and its usage, because it does not know the options.
  if (failed.code !== 129) return gitFailure(repository, ref, failed);
  const { stdout } = await runInRepository(repository, ["--version"], stop);
  return new HoldfastError("error", `merging with ${ref} needs git 2.38 or newer, and this is ${stdout.trim()}`, {
    hint: `install a newer git, or merge ${ref} into this branch first`,
  });
}

/** Commits the content of a folder on top of the commit that is checked out. */
async function commitFolder(
  repository: TemporaryRepository,
  { head, ref }: BaseCommit,
  { files, root, missing, isForeign }: MergedFolder,
  stop: Stop,
): Promise<string> {
  const known = await headOf(repository, root, stop);
  if (known === null) throw new HoldfastError("error", "the commit that is checked out cannot be read");
  const prefix = prefixIn(repository, root);
  const differing = files.filter(({ path, blob }) => known.blobs.get(path) !== blob);
  const added = await Promise.all(
    differing.map(async (file) => {
      if (file.digest === null) throw tooLarge(file.display, ref);
      return { path: file.path, bytes: await file.bytes(stop) };
    }),
  );
  const candidates = ignoreFilesOf([...files.map(({ path }) => path), ...known.blobs.keys()]);
  const ignored = await changedFiles(candidates, { root, head: known, isForeign, limit: IGNORE_FILE_BYTES }, stop);
  const removed = missing.map((path) => ({ path, bytes: null }));
  const edits: readonly FileChange[] = [...removed, ...ignored, ...added];
  const changes = edits.map((edit) => changeOf(root, prefix, edit));
  return importCommit(repository, { parents: [head], changes }, ref, stop);
}

// A file that was replaced by a link is a link in the merge too.
function changeOf(root: string, prefix: string, { path, bytes }: FileChange): Change {
  if (bytes !== null) return inline("100644", prefix + path, bytes);
  const place = join(root, path);
  if (fileStatus(place)?.isSymbolicLink()) return inline("120000", prefix + path, Buffer.from(readlinkSync(place)));
  return [`D ${quotedPath(prefix + path)}\n`];
}

function ignoreFilesOf(paths: readonly string[]): readonly string[] {
  const folders = new Set(paths.flatMap((path) => path.split("/").map((_, at, steps) => steps.slice(0, at).join("/"))));
  return [...folders].map((folder) => (folder === "" ? OWN_IGNORE_FILE : `${folder}/${OWN_IGNORE_FILE}`));
}

function tooLarge(file: string, ref: string): HoldfastError {
  return new HoldfastError("invalid", `${file} is too large to be merged with ${ref}`, {
    hint: "commit it, make it smaller, or list it in .holdfastignore",
  });
}

/** Lines and bytes of `git fast-import`. */
type Change = readonly (Uint8Array | string)[];

function inline(mode: string, path: string, bytes: Uint8Array): Change {
  return [`M ${mode} inline ${quotedPath(path)}\ndata ${bytes.length}\n`, bytes, "\n"];
}

function modify(mode: string, object: string, path: string): Change {
  return [`M ${mode} ${object} ${quotedPath(path)}\n`];
}

async function importCommit(
  repository: TemporaryRepository,
  { parents: [from, ...merged], changes }: { readonly parents: readonly string[]; readonly changes: readonly Change[] },
  ref: string,
  stop: Stop,
): Promise<string> {
  const input = [
    `commit refs/holdfast/merge\nmark :1\ncommitter holdfast <holdfast> 0 +0000\ndata 0\n\nfrom ${from}\n`,
    ...merged.map((parent) => `merge ${parent}\n`),
    ...changes.flat(),
    "\nget-mark :1\ndone\n",
  ];
  const imported = await runInRepository(repository, ["fast-import", "--quiet", "--done", "--force"], {
    ...stop,
    input,
  });
  if (imported.code !== 0) throw gitFailure(repository, ref, imported);
  return imported.stdout.trim();
}
