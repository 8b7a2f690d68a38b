import type { Location, Log, Result, Run } from "sarif";
import { type Diagnostic, sortDiagnostics, summaryText } from "../../core/diagnostic.ts";
import { jsonText } from "../json.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

/** Diagnostics as SARIF 2.1.0, which code scanning services read; files are named from `folder` in the checkout. */
export function sarifReport(diagnostics: readonly Diagnostic[], uriOf: (file: string) => string): string {
  const sorted = sortDiagnostics(diagnostics);
  const codes = [...new Set(sorted.map(({ code }) => code))];
  const results = sorted.map(
    ({ severity, code, summary, documents, detail, file, line, column }): Result => ({
      ruleId: code,
      ruleIndex: codes.indexOf(code),
      level: severity,
      message: { text: [summaryText({ summary, documents }), detail].filter((part) => part !== null).join(": ") },
      ...(file === null ? {} : { locations: [locationOf(encoded(uriOf(file)), line, column)] }),
    }),
  );
  const driver = { name: "holdfast", rules: codes.map((id) => ({ id })) };
  return sarifText([{ tool: { driver }, results }]);
}

function locationOf(uri: string, line: number | null, column: number | null): Location {
  const region = { startLine: line ?? 1, ...(column === null ? {} : { startColumn: column }) };
  return { physicalLocation: { artifactLocation: { uri }, region } };
}

// A name of a file may hold anything, and a colon in it would begin the name of a scheme.
function encoded(path: string): string {
  return path.toWellFormed().split("/").map(encodeURIComponent).join("/");
}

/** One report with the runs of several. */
export function joinSarifReports(reports: readonly { readonly runs?: readonly Run[] }[]): string {
  return sarifText(reports.flatMap(({ runs = [] }) => runs));
}

function sarifText(runs: readonly Run[]): string {
  const log: Log = { $schema: SCHEMA, version: "2.1.0", runs: [...runs] };
  return jsonText(log);
}
