import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { HoldfastError } from "../core/errors.ts";
import { isAtOrBelow } from "../files/real-path.ts";
import { checkoutTop } from "./repository.ts";

/** Name of the configuration at the top of a source. */
export const CONFIG_NAME = "holdfast.yaml";

/** Where the source is: the folder named, else the one that holds `holdfast.yaml`, else the checkout's top, else here. */
export function findRoot({ cwd, source }: { readonly cwd: string; readonly source?: string | undefined }): string {
  if (source !== undefined) return existingFolder(resolve(cwd, source));
  const here = realpathSync(cwd);
  const top = checkoutTop(here);
  return configuredAbove(here, top) ?? top ?? here;
}

function existingFolder(folder: string): string {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(folder);
  throw new HoldfastError("invalid", `the source ${folder} is no folder`, {
    hint: "Name an existing folder with --source.",
  });
}

// Outside of a checkout the search ends at somebody else's folder: what stands in /tmp is not ours to obey.
function configuredAbove(folder: string, top: string | null): string | null {
  const owner = statSync(folder).uid;
  for (let at = folder; ; at = dirname(at)) {
    if (top === null && statSync(at).uid !== owner) return null;
    if (lstatSync(join(at, CONFIG_NAME), { throwIfNoEntry: false })) return at;
    if (at === top || at === dirname(at)) return null;
  }
}

/** The real path of the folder below which a repository decides what there is: the checkout of a source, or the source. */
export function contentTop(root: string): string {
  return realpathSync.native(checkoutTop(root) ?? root);
}

/** Whether a file lies in a source, as it is named or once links are followed. */
export function isInside(root: string, file: string): boolean {
  const top = realpathSync(root);
  return [file, realpathSync(file)].some((path) => path !== top && isAtOrBelow(top, path));
}
