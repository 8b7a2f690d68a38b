import { lstat, mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { requireOwnFolder } from "../files/own-folder.ts";

/**
 * Creates a folder and its parents with mode 0700, and refuses a folder of another user. Node's own recursive `mkdir`
 * never ends when the kernel refuses a new folder with ENOENT, as under `/proc`.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EEXIST" && !(await lstat(path)).isFile()) return requireOwnFolder(path);
    if (code !== "ENOENT" || dirname(path) === path || (await exists(dirname(path)))) throw error;
    await makeFolder(dirname(path));
    // Another process may have created it in the meantime.
    await makeFolder(path);
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
