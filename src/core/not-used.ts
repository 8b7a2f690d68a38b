import { type OperationName, operation } from "../contract/operations.ts";
import { compareText } from "./diagnostic.ts";

/** An extension that a pass had to do without, since the control plane does not have it. */
export type NotUsed = {
  /** `E6` */
  readonly extension: string;
  /** Method and path. */
  readonly operation: string;
  /** What cannot be done without it. */
  readonly cost: string;
};

/** What is lost because these extensions are missing. */
export function notUsed(names: readonly OperationName[]): readonly NotUsed[] {
  const rows = names.map(operation).toSorted((a, b) => compareText(a.number, b.number));
  return rows.map(({ number, method, path, without = "" }) => ({
    extension: number,
    operation: `${method} ${path}`,
    cost: without,
  }));
}
