import { stagedPathFault } from "../../../contract/staged-files.ts";
import { badRequest } from "../../../http/http-error.ts";

/** A name in a stage, of a file or of a folder on the way to one, and the key under which it is unique. */
export type StagedName = {
  readonly path: string;
  /** Equal for paths that a file system which ignores case takes for the same. */
  readonly key: string;
};

/** The path of a file in a stage, and the folders on the way to it. */
export type StagedPath = StagedName & { readonly folders: readonly StagedName[] };

/** Checks the path of a file, so that any file system can hold it, below the folder that a client chooses; else 400. */
export function readStagedPath(text: string): StagedPath {
  const segments = text.split("/");
  const fault = stagedPathFault(text);
  if (fault !== null) throw badRequest(`the path of the file ${fault}`);
  const folders = segments.slice(1).map((_, at) => nameOf(segments.slice(0, at + 1).join("/")));
  return { ...nameOf(text), folders };
}

function nameOf(path: string): StagedName {
  return { path, key: path.toLowerCase().normalize("NFC") };
}
