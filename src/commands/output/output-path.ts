import { basename, dirname, join, resolve } from "node:path";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { requireRegularFile } from "../../files/read-own-file.ts";
import { realPathOutside } from "../../files/real-path.ts";

/**
 * The real path of a file that a command will write. Refuses an existing path that is not a regular file, links included, and
 * a path through a link in the source, because a repository could point it anywhere.
 */
export function outputPath(
  file: string,
  { cwd, content }: { readonly cwd: string; readonly content: string | null },
): string {
  const named = resolve(cwd, file);
  const path = join(realPathOutside(content, dirname(named)), basename(named));
  const found = lstatOrNull(path);
  if (found !== null) requireRegularFile(path, found, "name a file to write; a result goes to stdout with -o json");
  return path;
}
