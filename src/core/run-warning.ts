import type { Diagnostic } from "./diagnostic.ts";
import { HoldfastError } from "./errors.ts";

/** Codes of warnings that are about a run, and not about its source or about live. */
export const runWarningCodes = [
  "unknown-variable",
  "clear-text",
  "not-remembered",
  "not-published",
  "not-delivered",
  "not-commented",
  "not-sent",
  "not-rotated",
  "no-queue",
  "no-limits",
  "no-socket",
  "no-lease",
  "unverified-plan",
  "targets-kept",
  "no-targets",
  "frozen",
  "order-not-met",
] as const;

/** Whether a diagnostic is a warning about a run, by its code. */
export function isRunWarning(code: string): boolean {
  return runWarningCodes.some((one) => one === code);
}

/** A warning about a run. */
export function runWarning(
  code: (typeof runWarningCodes)[number],
  summary: string,
  detail: string | null = null,
): Diagnostic {
  return { severity: "warning", code, summary, detail, file: null, line: null, column: null };
}

/** The diagnostics, followed by the warnings that are not among them; each once. */
export function withWarnings(
  diagnostics: readonly Diagnostic[],
  warnings: readonly Diagnostic[],
): readonly Diagnostic[] {
  return [...new Set([...diagnostics, ...warnings])];
}

/** Why `--strict` stops a run that has warnings, and what to do. */
export const STRICT = {
  message: "--strict treats warnings as errors",
  hint: "correct what the warning names, or leave --strict out",
} as const;

/** The refusal of warnings by `--strict`, before anything was sent. */
export function strictRefusal(warnings: readonly Diagnostic[]): HoldfastError {
  return new HoldfastError("invalid", STRICT.message, {
    hint: `nothing was written: ${STRICT.hint}`,
    diagnostics: warnings,
  });
}
