import { type Diagnostic, sortDiagnostics } from "../core/diagnostic.ts";
import { count } from "./count.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";

/** How many diagnostics are shown; the rest is counted. */
export const MOST_SHOWN = 100;

/** Diagnostics for people, one place and one sentence each, errors and warnings in file order. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], paint: Paint): string {
  const sorted = sortDiagnostics(diagnostics);
  const lines = sorted.slice(0, MOST_SHOWN).map((diagnostic) => diagnosticText(diagnostic, paint));
  const rest = sorted.length - MOST_SHOWN;
  return [...lines, ...(rest > 0 ? [paint("dim", `… and ${rest} more`)] : [])].map((line) => `${line}\n`).join("");
}

function diagnosticText({ severity, code, summary, detail, file, line, column }: Diagnostic, paint: Paint): string {
  const place = file === null ? "" : `${printable(file)}:${line ?? 1}:${column ?? 1}: `;
  const word = paint(severity === "error" ? "red" : "yellow", severity);
  const head = `${paint("bold", place)}${word}: ${printable(summary)} ${paint("dim", `[${code}]`)}`;
  return detail === null ? head : `${head}\n    ${printable(detail)}`;
}

/** `2 errors, 1 warning`. */
export function severityCounts(diagnostics: readonly Diagnostic[]): {
  readonly errors: number;
  readonly warnings: number;
} {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return { errors, warnings: diagnostics.length - errors };
}

/** The outcome of a validation in one line. */
export function validationLine(summary: {
  readonly files: number;
  readonly manifests: number;
  readonly errors: number;
  readonly warnings: number;
}): string {
  const { files, manifests, errors, warnings } = summary;
  const what = `${count(manifests, "manifest")} in ${count(files, "file")}`;
  const found = errors + warnings === 0 ? "valid" : `${count(errors, "error")}, ${count(warnings, "warning")}`;
  return `${what}: ${found}\n`;
}
