import { dirname } from "node:path";
import type { Stop } from "../../clock/clock.ts";
import { relativePath } from "../../files/real-path.ts";
import { findRepository } from "./find-repository.ts";
import { isTracked } from "./git.ts";
import { copyIndex, temporaryRepository } from "./temporary-repository.ts";

/** Whether git tracks a folder, or anything in it; false outside a checkout. */
export async function isTrackedFolder(folder: string, stop: Stop): Promise<boolean> {
  // Searched from the parent, since the folder itself may look like a repository.
  const repository = await findRepository(dirname(folder), stop);
  if (repository === null || repository.top === null) return false;
  const path = relativePath(repository.top, folder);
  if (!repository.isForeign) return isTracked(repository, path, stop);
  using temporary = temporaryRepository(repository);
  copyIndex(repository, temporary);
  return isTracked(temporary, path, stop);
}
