import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** What may lie in the place of a file, and what an error calls it. */
export const specialFiles = {
  symlink: "a symbolic link",
  "dangling symlink": "a symbolic link",
  folder: "a folder",
  pipe: "a pipe",
} as const;

/** The sorts of files that are no regular ones, and can be made by anybody. */
export type SpecialFile = keyof typeof specialFiles;

/** Puts something else than a regular file at a path; what a link leads to is a file with `content`. */
export function placeSpecial(sort: SpecialFile, path: string, content = "x"): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  switch (sort) {
    case "folder":
      mkdirSync(path, { mode: 0o700 });
      break;
    case "pipe":
      execFileSync("mkfifo", ["-m", "600", path]);
      break;
    case "symlink":
      writeFileSync(`${path}.target`, content, { mode: 0o600 });
      symlinkSync(`${path}.target`, path);
      break;
    case "dangling symlink":
      symlinkSync(`${path}.nowhere`, path);
  }
}
