import { type Diagnostic, sortDiagnostics, summaryText } from "../core/diagnostic.ts";
import type { Excerpt } from "../core/redact/masked-excerpt.ts";
import { count, joinCounts } from "./count-text.ts";
import { printable } from "./escape.ts";
import type { Paint, Style } from "./paint.ts";
import { columnsOf, cutEnd } from "./text-width.ts";
import { sentenceText, wordsIn, wrapWords } from "./wrap.ts";

/** Maximum number of diagnostics shown; the rest is counted. */
const MAX_SHOWN = 100;

/** Layout of diagnostics: the colours, and the excerpts of the files. */
export type DiagnosticView = {
  readonly paint: Paint;
  /** Maximum columns of a line. */
  readonly width: number;
  /** The source line of a diagnostic; null when none is shown. */
  readonly excerptOf: (diagnostic: Diagnostic) => Excerpt | null;
};

/** More places are counted. */
const MAX_RELATED = 10;

/** Diagnostics as text, grouped by file and in file order, each with its position and one sentence. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], view: DiagnosticView): string {
  // If not all can be shown, errors take precedence over warnings.
  const folded = foldUnmanaged(sortDiagnostics(diagnostics));
  const { error = [], warning = [] } = Object.groupBy(folded, ({ severity }) => severity);
  const ranked = [...error, ...warning];
  const byFile = [...Map.groupBy(sortDiagnostics(ranked.slice(0, MAX_SHOWN)), ({ file }) => file).values()];
  const shown = byFile.map((alike) => alike.map((diagnostic) => `${diagnosticText(diagnostic, view)}\n`).join(""));
  const rest = countsText(severityCounts(ranked.slice(MAX_SHOWN)), "more ");
  return [...shown, ...(rest === "" ? [] : [`${view.paint("dim", `… and ${rest}`)}\n`])].join("\n");
}

// One warning for all files with documents of the same unmanaged type.
function foldUnmanaged(sorted: readonly Diagnostic[]): readonly Diagnostic[] {
  const alike = Map.groupBy(sorted, (diagnostic) => {
    const { code, severity, summary, detail } = diagnostic;
    const isUnmanaged = severity === "warning" && (code === "unknown-type" || code === "not-a-manifest");
    return isUnmanaged ? JSON.stringify([summary, detail]) : diagnostic;
  });
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return [];
    if (others.length === 0) return [first];
    const { documents: _, ...fields } = first;
    return [{ ...fields, summary: `${summaryText(first)}; the same in ${count(others.length, "more file")}` }];
  });
}

function diagnosticText(diagnostic: Diagnostic, view: DiagnosticView): string {
  const { paint, width } = view;
  const { detail } = diagnostic;
  const excerpt = view.excerptOf(diagnostic);
  const lines = excerpt === null ? [] : excerptLines(excerpt, diagnostic, view);
  const said = [detail ?? "", relatedText(diagnostic)].filter((text) => text !== "");
  const details = said.flatMap((text) => wrapWords(printable(text), { indent: INDENT, width }));
  return [...headLines(diagnostic, { paint, width }), ...lines, ...details].join("\n");
}

const INDENT = "    ";
const NEXT_INDENT = "  ";

// The position is never cut, since editors and people search for it.
function headLines(
  diagnostic: Diagnostic,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const { severity, code, file, line, column } = diagnostic;
  const place = file === null ? [] : [paint("bold", `${printable(file)}:${line ?? 1}:${column ?? 1}:`)];
  const word = `${paint(severityStyle(severity), severity)}:`;
  const said = wordsIn(printable(summaryText(diagnostic)), width);
  const words = [...place, word, ...said, paint("dim", `[${printable(code)}]`)];
  return wrapWords(words, { indent: "", nextIndent: NEXT_INDENT, width });
}

function severityStyle(severity: Diagnostic["severity"]): Style {
  return severity === "error" ? "red" : "yellow";
}

const GUTTER = 8;

function excerptLines(
  excerpt: Excerpt,
  { line, severity }: Diagnostic,
  { paint, width }: DiagnosticView,
): readonly string[] {
  const start = excerpt.column - 1;
  const before = columnsOf(visible(excerpt.line.slice(0, start)));
  const room = width - GUTTER;
  if (before >= room) return [];
  const [word = ""] = wordAt(excerpt);
  // What a character is shown as depends on those before it.
  const end = columnsOf(visible(excerpt.line.slice(0, start + word.length)));
  const marked = Math.min(Math.max(1, end - before), room - before);
  return [
    `${paint("dim", `${String(line ?? 1).padStart(5)} │`)} ${cutEnd(visible(excerpt.line), room)}`,
    `${paint("dim", "      │")} ${" ".repeat(before)}${paint(severityStyle(severity), "^".repeat(marked))}`,
  ];
}

// A tab has no fixed width, and is often the mistake itself.
function visible(text: string): string {
  return printable(text.replaceAll("\t", "→"));
}

// An unquoted text may contain spaces, unless it is between brackets.
function wordAt({ line, column }: Excerpt): readonly string[] {
  const [before, rest] = [line.slice(0, column - 1), line.slice(column - 1)];
  const isPlain = /[:-]\s+$/.test(before) && !/[[{]/.test(before) && !/^["'[{(|>&*!]|:(?:\s|$)/.test(rest);
  return (isPlain ? PLAIN : WORD).exec(rest) ?? [];
}

const PLAIN = /^\S+(?: +(?!#)\S+)*/;

// The token at a position: a key without its colon, a quoted text or a word, otherwise a single character.
const WORD = /^(?:"[^"]*"|'[^']*'|\(sensitive\)|[\w./@:+-]*[\w/@+-]|.)/;

/** The number of errors and warnings. */
export function severityCounts(diagnostics: readonly Diagnostic[]): {
  readonly errors: number;
  readonly warnings: number;
} {
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  return { errors, warnings: diagnostics.length - errors };
}

/** `2 errors, 1 warning`. */
function countsText({ errors, warnings }: ReturnType<typeof severityCounts>, what = ""): string {
  return joinCounts([
    [errors, `${what}${errors === 1 ? "error" : "errors"}`],
    [warnings, `${what}${warnings === 1 ? "warning" : "warnings"}`],
  ]);
}

/** The result of validating a source. */
type Found = {
  readonly files: number;
  /** Number of valid manifests. */
  readonly manifests: number;
  /** Number of all manifests, including broken ones. */
  readonly declared: number;
  readonly errors: number;
  readonly warnings: number;
  /** Whether warnings count as errors. */
  readonly strict: boolean;
};

/** The summary below the diagnostics: `12 of 14 manifests in 9 files are valid: 2 errors`. */
export function validationText(found: Found, width: number): string {
  const gap = found.errors + found.warnings === 0 ? "" : "\n";
  return gap + sentenceText(validationLine(found), width);
}

function validationLine(found: Found): string {
  const { files, manifests, declared, errors, warnings, strict } = found;
  const where = `in ${count(files, "file")}`;
  const counts = countsText(found);
  if (errors === 0 && warnings > 0 && strict) {
    return `${count(manifests, "manifest")} ${where}: ${counts}, treated as ${warnings === 1 ? "an error" : "errors"}`;
  }
  if (errors === 0) return `${count(manifests, "manifest")} ${where}: valid${counts === "" ? "" : `, ${counts}`}`;
  if (declared === 0) return `${count(manifests, "valid manifest")} ${where}: ${counts}`;
  const verb = manifests === 1 || declared === 1 ? "is" : "are";
  return `${manifests} of ${count(declared, "manifest")} ${where} ${verb} valid: ${counts}`;
}

/** The other places of a diagnostic: `also at a.yaml:3, b.yaml:7 and 4 more`; empty when there are none. */
export function relatedText({ related = [] }: Diagnostic): string {
  if (related.length === 0) return "";
  const shown = related.slice(0, MAX_RELATED).map(({ file, line }) => `${file}:${line}`);
  const rest = related.length - shown.length;
  return `also at ${shown.join(", ")}${rest === 0 ? "" : ` and ${rest} more`}`;
}
