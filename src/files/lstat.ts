import { lstatSync, type Stats } from "node:fs";

/** What lies at a path, no link followed; null where nothing does, as far as the user may look. */
export function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // Something on the way is no folder, or lets nobody through: opening it will fail in the same way.
    if (error instanceof Error && "code" in error && (error.code === "ENOTDIR" || error.code === "EACCES")) return null;
    throw error;
  }
}
