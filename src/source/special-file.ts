import type { Diagnostic } from "../core/diagnostic.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";

/** The warning about an entry that is neither a regular file nor a folder, such as "a symbolic link". */
export function specialFileWarning(display: string, what: string): Diagnostic {
  const detail = "Only regular files are read.";
  return fileDiagnostic("warning", "not-a-regular-file", display, `${what}, skipped`, detail);
}

/** The warning about another repository among the files of a checkout or a commit. */
export function submoduleWarning(display: string): Diagnostic {
  const detail = "Its files are no part of this repository's commits. Make it a source of its own.";
  return fileDiagnostic("warning", "not-a-regular-file", display, "a submodule, not read", detail);
}
