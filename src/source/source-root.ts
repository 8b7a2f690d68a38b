import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { isAtOrBelow } from "../files/real-path.ts";
import { checkoutTop } from "./git/repository-paths.ts";
import { isBelow } from "./git/tree-entry.ts";

/** Name of the configuration file at the root of a source. */
export const CONFIG_NAME = "holdfast.yaml";

type Place = { readonly cwd: string; readonly source?: string | undefined };

/**
 * The root of the source: the named folder, else the one with `holdfast.yaml`, else the checkout's top, else the cwd.
 */
export function findRoot(place: Place): string {
  return realRoot(findSource(place));
}

/** Like `findRoot`, but links in the path are kept, since they may be swapped later. */
export function findSource({ cwd, source }: Place): string {
  if (source !== undefined) return existingFolder(resolve(cwd, source));
  const here = realpathSync(cwd);
  const top = checkoutTop(here);
  return configuredAbove(here, top) ?? top ?? here;
}

/** Why the source of a place is its source, to be read after "which is the source because". */
export function sourceReason({ cwd, source }: Place): string {
  if (source !== undefined) return "--source names it";
  const here = realpathSync(cwd);
  const top = checkoutTop(here);
  if (configuredAbove(here, top) !== null) return `it holds ${CONFIG_NAME}`;
  return top === null ? "it is the working directory" : "it is the top of the git checkout";
}

function existingFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return folder;
  throw new HoldfastError("invalid", `the source ${folder} is no folder`, {
    hint: "Name an existing folder with --source.",
  });
}

// Outside a checkout the search ends at a folder of another user: a configuration in /tmp, for example, is not trusted.
function configuredAbove(folder: string, top: string | null): string | null {
  const owner = statSync(folder).uid;
  for (let at = folder; ; at = dirname(at)) {
    if (top === null && statSync(at).uid !== owner) return null;
    if (lstatSync(join(at, CONFIG_NAME), { throwIfNoEntry: false })) return at;
    if (at === top || at === dirname(at)) return null;
  }
}

/** The real folder of a source now; a link that leads to it may be swapped later. */
export function realRoot(source: string): string {
  try {
    const folder = realpathSync(source);
    return mountedData(folder) ?? folder;
  } catch (cause) {
    throw new HoldfastError("invalid", `the source ${source} cannot be read`, {
      hint: "Name an existing folder.",
      cause,
    });
  }
}

// Kubernetes mounts the files of a ConfigMap as links into a sibling folder, and swaps that folder: the link `..data`
// leads to it. In a repository, `..data` is an ordinary name.
function mountedData(folder: string): string | null {
  const link = join(folder, "..data");
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() !== true || checkoutTop(folder) !== null)
    return null;
  const data = realpathSync(link);
  return dirname(data) === folder && statSync(data).isDirectory() ? data : null;
}

/** Whether a source, or the checkout that it lies in, is a link, which can be swapped to another folder. */
export function isLinked(source: string): boolean {
  return [source, checkoutTop(source) ?? source].some((path) => lstatSync(path).isSymbolicLink());
}

/** The real path of the folder whose content a repository controls: the checkout of a source, or the source. */
export function contentTop(root: string): string {
  const folder = realpathSync.native(root);
  return checkoutTop(folder) ?? folder;
}

/**
 * The same where a source may be a repository that is fetched: then only a checkout around the folder has content of a
 * repository. Null if there is none.
 */
export function contentAround({
  root,
  isFetched,
}: {
  readonly root: string;
  readonly isFetched: boolean;
}): string | null {
  return isFetched ? checkoutTop(realpathSync.native(root)) : contentTop(root);
}

/** Whether a file lies in a source, by its path or after following links. */
export function isInside(root: string, file: string): boolean {
  const top = realpathSync(root);
  return [file, realpathSync(file)].some((path) => path !== top && isAtOrBelow(top, path));
}

/** Folders of patch files below the root of a source. */
export type PatchFolders = {
  /** That of the target; it may be absent. Null if the target has none. */
  readonly own: string | null;
  /** Those of other targets, whose files are not read. */
  readonly others: readonly string[];
  /** The folders of policies, which are read whatever ignore files say; they may be absent. @default none */
  readonly policies?: readonly string[];
};

/** Whether a path below the root is a folder of policies, or lies in one. */
export function isOfPolicies({ policies = [] }: Partial<PatchFolders> = {}, path: string): boolean {
  return policies.some((folder) => isBelow(path, folder));
}

/** No folders of patches. */
export const NO_FOLDERS: PatchFolders = { own: null, others: [] };

/** The starting points below the root, as paths with `/` and without a trailing `/`; `` is the root itself. */
export function startsOf(
  root: string,
  paths: readonly string[] | undefined,
  folders: Partial<PatchFolders> = {},
): readonly string[] {
  const named = paths === undefined || paths.length === 0 ? ["."] : paths;
  const starts = [...named, ...optionalStarts(folders)].map((path) => {
    const inside = relative(root, resolve(root, path));
    if (inside.split(sep)[0] === ".." || isAbsolute(inside)) {
      throw new HoldfastError("invalid", `the path ${path} leads out of the source`, {
        hint: "Paths are relative to the source's root.",
      });
    }
    return inside.split(sep).join("/");
  });
  return [...new Set(starts)];
}

/** The starting points that may be absent. */
export function optionalStarts({ own = null, policies = [] }: Partial<PatchFolders>): readonly string[] {
  return [...(own === null ? [] : [own]), ...policies];
}
