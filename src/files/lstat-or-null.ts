// src/files: access to files that must belong to the user. See docs/security.md#the-state-folder.

import { lstatSync, type Stats } from "node:fs";

/** The file status of a path without following a link; null when the path does not exist or is not accessible. */
export function lstatOrNull(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    // A parent is not a folder, or not accessible. Opening the path will fail in the same way.
    if (error instanceof Error && "code" in error && (error.code === "ENOTDIR" || error.code === "EACCES")) return null;
    throw error;
  }
}
