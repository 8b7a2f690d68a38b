import type { Diagnostic } from "../core/diagnostic.ts";
import { redactCredentials } from "../model/credential.ts";
import type { SchemaDiagnostic as SchemaFault } from "../schema/schema-diagnostic.ts";
import type { Fault } from "../yaml/fault.ts";
import type { Position } from "../yaml/locator.ts";

/** The text of a fault, without its position. */
export type Wording = Omit<Fault, "offset" | "other">;

/** A diagnostic about a file as a whole. */
export function fileDiagnostic(
  severity: Diagnostic["severity"],
  code: string,
  file: string,
  summary: string,
  detail: string | null = null,
): Diagnostic {
  return { severity, code, summary, detail, file, line: null, column: null };
}

/** A diagnostic about a fault in the text of a file. */
export function diagnosticInFile(file: string, fault: Omit<Fault, "offset">, position: Position | null): Diagnostic {
  const { severity, code, summary, detail } = fault;
  return { severity, code, summary, detail, file, line: position?.line ?? null, column: position?.column ?? null };
}

/** Whether a fault is about the name or the value of a field, which decides the position that is reported. */
export function keyOrValue({ code, isAboutName }: SchemaFault): "key" | "value" {
  return code === "unknown-field" || code === "missing-field" || isAboutName ? "key" : "value";
}

/** The text of a schema fault, without credentials. */
export function wordingOf({ severity, code, message, help }: SchemaFault): Wording {
  return { severity, code, summary: redactCredentials(message), detail: help ?? null };
}

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
