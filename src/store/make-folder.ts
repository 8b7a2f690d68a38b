import { lstat, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { requireOwnFolder } from "../files/own-folder.ts";

/**
 * Creates a folder and its parents with mode 0700, and refuses a folder of another user. Node's own recursive `mkdir`
 * never ends when the kernel refuses a new folder with ENOENT, as under `/proc`.
 */
export function makeFolder(path: string): Promise<void> {
  return make(path, { isRepeated: false });
}

async function make(path: string, { isRepeated }: { readonly isRepeated: boolean }): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EEXIST" && !(await lstat(path)).isFile()) return requireOwnFolder(path);
    if (code !== "ENOENT" || dirname(path) === path || isRepeated) throw error;
    // Another process may have created the parent, or the folder itself, in the meantime.
    if (!(await exists(dirname(path)))) await makeFolder(dirname(path));
    await make(path, { isRepeated: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
