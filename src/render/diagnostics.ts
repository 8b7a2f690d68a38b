import { type Diagnostic, sortDiagnostics } from "../core/diagnostic.ts";
import type { Excerpt } from "../core/excerpt.ts";
import { count, counted } from "./count.ts";
import { printable } from "./escape.ts";
import type { Paint } from "./paint.ts";

/** How many diagnostics are shown; the rest is counted. */
const MOST_SHOWN = 100;

/** How diagnostics are shown: in which colours, and with which lines of the files. */
export type DiagnosticView = {
  readonly paint: Paint;
  /** The line that a diagnostic is about; null where none is shown. */
  readonly excerptOf: (diagnostic: Diagnostic) => Excerpt | null;
};

/** Diagnostics for people, errors and warnings in file order, one place and one sentence each. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], view: DiagnosticView): string {
  const sorted = sortDiagnostics(diagnostics);
  const shown = sorted.slice(0, MOST_SHOWN).map((diagnostic) => `${diagnosticText(diagnostic, view)}\n`);
  const { errors, warnings } = severityCounts(sorted.slice(MOST_SHOWN));
  const rest = counted([
    [errors, errors === 1 ? "error" : "errors"],
    [warnings, warnings === 1 ? "warning" : "warnings"],
  ]);
  return [...shown, ...(rest === "" ? [] : [`${view.paint("dim", `… and ${rest} more`)}\n`])].join("");
}

function diagnosticText(diagnostic: Diagnostic, { paint, excerptOf }: DiagnosticView): string {
  const { severity, code, summary, detail, file, line, column } = diagnostic;
  const place = file === null ? "" : `${printable(file)}:${line ?? 1}:${column ?? 1}: `;
  const word = paint(severity === "error" ? "red" : "yellow", severity);
  const head = `${paint("bold", place)}${word}: ${printable(summary)} ${paint("dim", `[${code}]`)}`;
  const excerpt = excerptOf(diagnostic);
  const lines = excerpt === null ? [] : excerptLines(excerpt, line ?? 1, severity, paint);
  return [head, ...lines, ...(detail === null ? [] : [`    ${printable(detail)}`])].join("\n");
}

function excerptLines(
  excerpt: Excerpt,
  line: number,
  severity: Diagnostic["severity"],
  paint: Paint,
): readonly string[] {
  const number = String(line).padStart(5);
  const before = printable(excerpt.line.slice(0, excerpt.column - 1));
  const caret = paint(severity === "error" ? "red" : "yellow", "^");
  return [
    `${paint("dim", `${number} │`)} ${printable(excerpt.line)}`,
    `${paint("dim", "      │")} ${" ".repeat(before.length)}${caret}`,
  ];
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
