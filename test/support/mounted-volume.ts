import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "./folder.ts";
import type { Files } from "./manifests.ts";

/** A folder as Kubernetes mounts a ConfigMap or Secret: its files are links through `..data`, which is swapped as a whole. */
export type MountedVolume = {
  readonly path: (file: string) => string;
  /** Replaces everything in it at once. */
  readonly swap: (files: Files) => Promise<void>;
};

/** Mounts these files. */
export async function mountVolume(files: Files): Promise<MountedVolume> {
  const folder = await temporaryFolder();
  let versions = 0;
  const swap = async (next: Files): Promise<void> => {
    versions += 1;
    const version = `..version-${versions}`;
    await mkdir(join(folder, version));
    for (const [file, text] of Object.entries(next)) await writeFile(join(folder, version, file), text);
    await symlink(version, join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  };
  await swap(files);
  for (const file of Object.keys(files)) await symlink(join("..data", file), join(folder, file));
  return { path: (file) => join(folder, file), swap };
}
