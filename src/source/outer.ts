import { dirname, join, relative, sep } from "node:path";
import { IGNORE_FILE_BYTES, ignoreFiles, isIgnoredBy, type Scope, scopeOf } from "./ignore.ts";
import { openFile } from "./open.ts";
import type { Repository } from "./repository.ts";

/** What the ignore files above a root, up to the top of its checkout, say about what is below it; outermost first. */
export function outerScopes(root: string, repository: Repository | null): readonly Scope[] {
  if (repository === null || repository.top === null) return [];
  const { top, commonFolder } = repository;
  const scopes = [...scopeFrom(top, [join(commonFolder, "info", "exclude")], root)];
  for (const folder of between(top, root)) {
    scopes.push(
      ...scopeFrom(
        folder,
        ignoreFiles.map((name) => join(folder, name)),
        root,
      ),
    );
  }
  // Who names an ignored folder as the source means it.
  const isIgnored = scopes.some((scope) => isIgnoredBy([{ ...scope, prefix: "" }], scope.prefix.slice(0, -1), true));
  return isIgnored ? [] : scopes;
}

// The folders from the top down to the root's parent; the root's own files are read with its entries.
function between(top: string, root: string): readonly string[] {
  const folders: string[] = [];
  for (let at = root; at !== top; ) {
    at = dirname(at);
    folders.unshift(at);
  }
  return folders;
}

function scopeFrom(folder: string, files: readonly string[], root: string): readonly Scope[] {
  const contents = files.flatMap((file) => {
    const opened = openFile(file, IGNORE_FILE_BYTES);
    return opened.is === "read" ? [Buffer.from(opened.bytes).toString("utf8")] : [];
  });
  const below = relative(folder, root).split(sep).join("/");
  const scope = contents.length === 0 ? null : scopeOf("", contents, below === "" ? "" : `${below}/`);
  return scope === null ? [] : [scope];
}
