import { resolve } from "node:path";
import { blameLine, type LineAuthor } from "../../source/git/blame-line.ts";
import { findInRepository } from "../../source/git/find-repository.ts";
import { realRoot } from "../../source/source-root.ts";
import type { Terminal } from "../terminal.ts";
import type { CommandTarget } from "./create-target.ts";

/** A line of a file of a target, as reports name it, or all lines from there to the end of its document. */
type AuthoredPlace = { readonly file: string; readonly line: number; readonly upTo: "line" | "document" };

/** Who wrote a line of a target's source, as seen from a commit; null if git cannot tell. */
export async function lineAuthor(
  { file, ...place }: AuthoredPlace,
  commit: string | null,
  { remote, source }: CommandTarget,
  { cwd, stopping: signal }: Pick<Terminal, "cwd" | "stopping">,
): Promise<LineAuthor | null> {
  if (commit === null) return null;
  if (remote !== null) return blameLine(remote.repository, { ...place, commit, path: file }, { signal });
  const found = await findInRepository(realRoot(source.root), resolve(cwd, file), { signal });
  return found && blameLine(found.repository, { ...place, commit, path: found.path }, { signal });
}
