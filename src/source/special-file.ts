import type { Diagnostic } from "../core/diagnostic.ts";
import { fileDiagnostic } from "./file-diagnostic.ts";

const SPECIAL = "not-a-regular-file";

/** The warning about an entry that is neither a regular file nor a folder, such as "a symbolic link". */
export function specialFileWarning(display: string, what: string): Diagnostic {
  const detail = "Only regular files are read.";
  return fileDiagnostic("warning", SPECIAL, display, `${what}, skipped`, detail);
}

/** The target of a link, or the text in place of one, that git-annex makes of a file. */
export const ANNEX_TARGET: RegExp = /^(?:(?:\.\.\/)*\.git)?\/annex\/objects\//;

/** What a pointer in place of a manifest is told as, and what helps. */
export const POINTER = {
  code: "pointer",
  detail:
    "Filters of git are not run, and nothing is decrypted. Commit the file as it is, or list it in .holdfastignore.",
} as const;

/** The diagnostic of a symbolic link in place of a manifest, by its target; null if that cannot be read. */
export function linkDiagnostic(display: string, target: string | null): Diagnostic {
  if (target === null || !ANNEX_TARGET.test(target)) return specialFileWarning(display, "a symbolic link");
  const summary = "a git-annex pointer stands in place of the manifest";
  return fileDiagnostic("error", POINTER.code, display, summary, POINTER.detail);
}

/** Whether a diagnostic is about an entry that is not read. */
export function isAboutSpecialFile({ code }: Diagnostic): boolean {
  return code === SPECIAL || code === POINTER.code;
}

/** The warning about another repository among the files of a checkout or a commit. */
export function submoduleWarning(display: string): Diagnostic {
  const detail = "Its files are no part of this repository's commits. Make it a source of its own.";
  return fileDiagnostic("warning", SPECIAL, display, "a submodule, not read", detail);
}
