import type { MissingExtension } from "../contract/generated/output.ts";
import { type Operation, type OperationName, operation } from "../contract/operations.ts";

export type { MissingExtension } from "../contract/generated/output.ts";

/** What is found of an extension whose route a control plane lacks. */
export const MISSING_EXTENSION = "this control plane does not have it";

/** The extensions that the control plane lacks, each with the consequence. */
export function missingExtensions(names: readonly OperationName[]): readonly MissingExtension[] {
  const rows = [...new Set(names)].map(operation).toSorted((a, b) => numberOf(a) - numberOf(b));
  return rows.map(({ number, method, path, without = "" }) => ({
    extension: number,
    operation: `${method} ${path}`,
    cost: without,
  }));
}

// `E14` comes after `E3`.
function numberOf({ number }: Operation): number {
  return Number(number.slice(1));
}
