import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Names a build of the program by its files: what one build has read, another may read otherwise. */
export function buildOf(program: string): string {
  const files = readdirSync(program, { recursive: true, encoding: "utf8" }).toSorted();
  const installed = join(program, "../node_modules/.package-lock.json");
  const build = createHash("sha256").update(process.version);
  for (const file of [installed, ...files.map((name) => join(program, name))]) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found?.isFile()) build.update(`${file}\0${found.size} ${found.mtimeMs}\n`);
  }
  return build.digest("base64url");
}
