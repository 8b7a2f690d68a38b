import { dirname, join, relative, sep } from "node:path";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Repository } from "./git/repository-paths.ts";
import { ignoreFiles, isHiddenBy, OWN_IGNORE_FILE, openIgnoreFiles, type Scope, scopesOf } from "./ignore-files.ts";

/** The ignore files above a root. */
export type OuterScopes = {
  /** Their patterns, outermost first. */
  readonly scopes: readonly Scope[];
  /** The lines that exceed a limit. */
  readonly faults: readonly Diagnostic[];
  /** Paths of Holdfast's own, relative to the root. */
  readonly own: readonly string[];
};

/** Reads the ignore files above a root, up to the top of its checkout. */
export function outerScopes(root: string, cwd: string, repository: Repository | null): OuterScopes {
  if (repository === null || repository.top === null) return { scopes: [], faults: [], own: [] };
  const { top, commonFolder } = repository;
  const [scopes, faults, own]: [Scope[], Diagnostic[], string[]] = [[], [], []];
  const add = (folder: string, paths: readonly string[]): void => {
    const below = relative(folder, root).split(sep).join("/");
    const files = openIgnoreFiles(paths, (path) => relative(cwd, path).split(sep).join("/"));
    const read = scopesOf("", files, { prefix: below === "" ? "" : `${below}/`, above: scopes });
    scopes.push(...read.scopes);
    faults.push(...read.faults);
    if (files.some(({ isOwn }) => isOwn)) own.push(`${relative(root, folder).split(sep).join("/")}/${OWN_IGNORE_FILE}`);
  };
  add(top, [join(commonFolder, "info", "exclude")]);
  for (const folder of between(top, root)) {
    add(
      folder,
      ignoreFiles.map((name) => join(folder, name)),
    );
  }
  // If the operator names an ignored folder as the source, the ignore files that name it do not apply.
  const applied = scopes.filter((scope) => !isHiddenBy({ ...scope, prefix: "" }, scope.prefix.slice(0, -1)));
  return { scopes: applied, faults, own };
}

// The folders from the top down to the root's parent. The root's own ignore files are read with its entries.
function between(top: string, root: string): readonly string[] {
  const folders: string[] = [];
  for (let at = root; at !== top; ) {
    at = dirname(at);
    folders.unshift(at);
  }
  return folders;
}
