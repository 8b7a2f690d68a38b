import { readCommitHistory } from "./read-commit-history.ts";
import { readSource } from "./read-source.ts";

/** What reads a source, and the history of its commits. */
export type SourceReader = { readonly read: typeof readSource; readonly history: typeof readCommitHistory };

/** Reads files of this machine, and commits by git. */
export const filesAndGit: SourceReader = { read: readSource, history: readCommitHistory };
