import type { MissingExtension } from "../contract/generated/output.ts";
import { compareText } from "../contract/json.ts";
import { type OperationName, operation } from "../contract/operations.ts";

export type { MissingExtension } from "../contract/generated/output.ts";

/** The extensions that the control plane lacks, each with the consequence. */
export function missingExtensions(names: readonly OperationName[]): readonly MissingExtension[] {
  const rows = [...new Set(names)].map(operation).toSorted((a, b) => compareText(a.number, b.number));
  return rows.map(({ number, method, path, without = "" }) => ({
    extension: number,
    operation: `${method} ${path}`,
    cost: without,
  }));
}
