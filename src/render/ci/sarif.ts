import type { Location, Log, Result, Run } from "sarif";
import { type Diagnostic, sortDiagnostics, summaryText } from "../../core/diagnostic.ts";
import { jsonText } from "../escape.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

/** Diagnostics as SARIF 2.1.0 for code scanning services; `uriOf` returns a file's path in the checkout. */
export function sarifReport(diagnostics: readonly Diagnostic[], uriOf: (file: string) => string): string {
  const sorted = sortDiagnostics(diagnostics);
  const codes = [...new Set(sorted.map(({ code }) => code))];
  const results = sorted.map(
    ({ severity, code, summary, documents, detail, file, line, column, related = [] }): Result => ({
      ruleId: code,
      ruleIndex: codes.indexOf(code),
      level: severity,
      message: { text: [summaryText({ summary, documents }), detail].filter((part) => part !== null).join(": ") },
      ...(file === null ? {} : { locations: [locationOf(encoded(uriOf(file)), line, column)] }),
      ...(related.length === 0
        ? {}
        : { relatedLocations: related.map((one) => locationOf(encoded(uriOf(one.file)), one.line, one.column)) }),
    }),
  );
  const driver = { name: "holdfast", rules: codes.map((id) => ({ id })) };
  return sarifText([{ tool: { driver }, results }]);
}

function locationOf(uri: string, line: number | null, column: number | null): Location {
  const region = { startLine: line ?? 1, ...(column === null ? {} : { startColumn: column }) };
  return { physicalLocation: { artifactLocation: { uri }, region } };
}

// A file name may contain any character, and a colon would be read as the end of a URI scheme.
function encoded(path: string): string {
  return path.toWellFormed().split("/").map(encodeURIComponent).join("/");
}

/** Joins the runs of several reports into one. */
export function joinSarifReports(reports: readonly { readonly runs?: readonly Run[] }[]): string {
  return sarifText(reports.flatMap(({ runs = [] }) => runs));
}

function sarifText(runs: readonly Run[]): string {
  const log: Log = { $schema: SCHEMA, version: "2.1.0", runs: [...runs] };
  return jsonText(log);
}
