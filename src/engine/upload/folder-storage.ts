import { constants, type Dirent } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage } from "../../contract/error-message.ts";
import { FilesError } from "../model-files/files-error.ts";
import { digestFile, readPart, type VersionFile } from "../model-files/read-file.ts";
import { StorageRefusal, type Storing, type VersionStorage } from "./storage.ts";

// A file has this name until it is whole.
const DRAFT = ".holdfast-upload";

const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * A `file://` storage root: a folder that the control plane has made on this machine. The control plane chooses it, so nothing is
 * written to a folder that is absent or has files of others.
 */
export function folderStorage(root: string): VersionStorage {
  const folder = folderOf(root);
  return {
    store: async (files, storing) => {
      try {
        const names = new Set(files.map(({ path }) => path));
        const present = await filesIn(folder);
        await rm(join(folder, DRAFT), { force: true });
        const foreign = present.find((path) => path !== DRAFT && !names.has(path));
        if (foreign !== undefined)
          throw new StorageRefusal(`the storage ${folder} has another file already: ${foreign}`);
        for (const file of files) {
          const isThere = present.includes(file.path) && (await isSame(file, join(folder, file.path), storing));
          if (isThere) storing.onStored(file.size);
          else await copy(file, folder, storing);
        }
      } catch (error) {
        throw refusalOf(error, folder);
      }
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function folderOf(root: string): string {
  try {
    return fileURLToPath(root);
  } catch (cause) {
    throw new StorageRefusal("the storage root is not the URL of a folder", { cause });
  }
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const found = await lstat(folder).catch(() => null);
  if (!found?.isDirectory()) {
    throw new StorageRefusal(
      `the storage ${folder} is no folder of this machine: start the control plane with an --artifact-root that clients elsewhere can reach`,
    );
  }
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const special = entries.find((entry) => !entry.isFile() && !entry.isDirectory());
  if (special !== undefined) throw new StorageRefusal(`the storage has what is no file: ${pathIn(folder, special)}`);
  return entries.filter((entry) => entry.isFile()).map((entry) => pathIn(folder, entry));
}

function pathIn(folder: string, { parentPath, name }: Dirent): string {
  return join(parentPath, name).slice(folder.replace(/\/+$/, "").length + 1);
}

async function isSame({ path, size, digest }: VersionFile, stored: string, stop: Storing): Promise<boolean> {
  if ((await lstat(stored)).size !== size) return false;
  return (await digestFile({ path, real: stored }, () => undefined, stop)).digest === digest;
}

async function copy(file: VersionFile, folder: string, storing: Storing): Promise<void> {
  const target = join(folder, file.path);
  const draft = join(folder, DRAFT);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  try {
    await using handle = await open(draft, FLAGS, 0o600);
    for await (const chunk of readPart(file, { first: 0, size: file.size }, storing)) {
      await handle.appendFile(chunk);
      storing.onStored(chunk.length);
    }
    await handle.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await rename(draft, target);
  await using parent = await open(dirname(target));
  await parent.sync();
}

function refusalOf(error: unknown, folder: string): unknown {
  if (error instanceof StorageRefusal || error instanceof FilesError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC" || code === "EDQUOT")
    return new StorageRefusal(`the storage ${folder} is full`, { cause: error });
  if (code === "" || code === "ABORT_ERR") return error;
  return new StorageRefusal(`the storage ${folder} takes no files: ${errorMessage(error)}`, { cause: error });
}
