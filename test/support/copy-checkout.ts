import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/** Copies what git knows or would add into a new repository: the checkout as it is now, without what is built of it. */
export function copyCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-copy-"));
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  const files = listed
    .toString()
    .split("\0")
    .filter((file) => file !== "" && existsSync(join(root, file)));
  for (const file of files) cpSync(join(root, file), join(folder, file));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  // So that a test of the copy can copy it in turn.
  execFileSync("git", ["init", "--quiet"], { cwd: folder });
  return folder;
}
