import { basename, dirname, join, resolve } from "node:path";
import { lstatOrNull } from "../../files/lstat-or-null.ts";
import { requireRegularFile } from "../../files/read-own-file.ts";
import { realPathOutside } from "../../files/real-path.ts";

/**
 * The real path of a file that a command is to write. Refused is what is there and is no regular file, a link to one
 * included, and a way through a link in the source: a repository could lead it anywhere.
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
