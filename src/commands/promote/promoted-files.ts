import { join } from "node:path/posix";
import type { PromotedFile } from "../../core/report/events.ts";
import { findInRepository } from "../../source/git/find-repository.ts";
import { realRoot } from "../../source/source-root.ts";
import type { CommandTarget } from "../targets/create-target.ts";
import type { Terminal } from "../terminal.ts";

/** The files of a promotion by their paths in the repository; those of a folder that is in none, relative to the source. */
export async function inRepository(
  files: readonly PromotedFile[],
  { remote, source }: CommandTarget,
  { stopping: signal }: Terminal,
): Promise<readonly PromotedFile[]> {
  if (remote !== null || files.length === 0) return files;
  const root = realRoot(source.root);
  const found = await findInRepository(root, root, { signal });
  return found === null ? files : files.map((file) => ({ ...file, path: join(found.path, file.path) }));
}
