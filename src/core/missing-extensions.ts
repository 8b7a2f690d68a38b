import { type OperationName, operation } from "../contract/operations.ts";
import { compareText, type Diagnostic } from "./diagnostic.ts";

/** Tells which extensions a pass had to do without, and what that costs. */
export function missingExtensions(names: readonly OperationName[]): readonly Diagnostic[] {
  const rows = names.map(operation).toSorted((a, b) => compareText(a.number, b.number));
  return rows.map(({ number, method, path, without = null }) => ({
    severity: "warning",
    code: "extension-missing",
    summary: `this control plane does not have ${number} (${method} ${path})`,
    detail: without,
    file: null,
    line: null,
    column: null,
  }));
}
