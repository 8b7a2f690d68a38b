import type { Failure } from "../contract/generated/output.ts";
import { type Diagnostic, sortDiagnostics } from "../core/diagnostic.ts";
import type { FailureText } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import { withWarnings } from "../core/run-warning.ts";
import { jsonText, printable } from "./escape.ts";
import { linesText, sentenceText, wordsIn } from "./wrap.ts";

/** What is said of a failure; a warning has no code. */
export type SaidFailure = {
  /** Information is no error. @default "error" */
  readonly level?: "info" | "error";
  readonly code?: FailureText["code"];
  readonly message: string;
  readonly hint: string | null;
};

/** Whether the user has asked for this end. */
export function isAsked({ code }: { readonly code?: FailureText["code"] | undefined }): boolean {
  return code === "interrupted" || code === "terminated";
}

/** The failure and the next step. An end that the user requested is not shown as an error. */
export function failureText({ level, code, message, hint }: SaidFailure, width: number): string {
  const words = wordsIn(printable(message), width);
  return (
    sentenceText(level === "info" || isAsked({ code }) ? words : ["error:", ...words], width) + hintText(hint, width)
  );
}

const HINT = { indent: "  → ", nextIndent: "    " };

/** The next step, below the failure. A command in it is not broken, so that it can be copied. */
function hintText(hint: string | null, width: number): string {
  return hint === null ? "" : linesText(printable(hint), { ...HINT, width });
}

/** Why a command ended without its result, and what it warned of before, as JSON. */
export function failureReport(
  { code, message, hint, diagnostics }: FailureText,
  warnings: readonly Diagnostic[] = [],
): string {
  const report: Failure = {
    format_version: FORMAT_VERSION,
    error: { code, message, hint },
    diagnostics: sortDiagnostics(withWarnings(diagnostics, warnings)),
  };
  return jsonText(report);
}
