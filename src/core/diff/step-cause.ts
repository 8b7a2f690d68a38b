import type { CausedBy } from "../../contract/generated/output.ts";

export type { CausedBy } from "../../contract/generated/output.ts";

import type { Cause } from "./field-cause.ts";

/** Who caused a step, by the differences that it acts on; null when it acts on none. */
export function causedByDifferences(
  differences: readonly { readonly cause: Cause; readonly isOfThisChange: boolean }[],
): CausedBy | null {
  const causes = new Set(differences.map(({ cause }) => cause));
  if (differences.some(({ isOfThisChange }) => isOfThisChange)) {
    const isAlone = differences.every(({ cause, isOfThisChange }) => isOfThisChange && cause !== "conflict");
    return isAlone ? "change" : "mixed";
  }
  // Priority: drift, unrecorded, pending.
  if (causes.has("drift") || causes.has("conflict")) return "drift";
  if (causes.has("unrecorded")) return "unrecorded";
  return causes.has("pending") ? "pending" : null;
}

/** How a manifest as a whole compares with the record and with the base. */
export type ManifestViews = {
  readonly atBase: "same" | "otherwise" | "not-compared";
  /** Whether it equals the last written manifest; null when nothing is recorded. */
  readonly isAsWritten: boolean | null;
  /** How it compares with the commit applied last, when that replaces a missing record. @default no such commit */
  readonly applied?: "same" | "otherwise" | "absent" | null;
  /** Whether it is known to be absent from live. */
  readonly isAbsent: boolean;
};

/** Who caused a step that creates a resource, or whose live state is unknown; null when nothing changed. */
export function causedByManifest({ atBase, isAsWritten, applied = null, isAbsent }: ManifestViews): CausedBy | null {
  const isOfThisChange = atBase === "otherwise";
  if (isAsWritten === null) return atBase === "same" ? causedByApplied(applied, isAbsent) : "change";
  const hasMoved = atBase === "not-compared" ? !isAsWritten : isOfThisChange;
  if (isAbsent) return hasMoved ? "mixed" : "drift";
  if (hasMoved) return "change";
  return isAsWritten ? null : "pending";
}

function causedByApplied(applied: NonNullable<ManifestViews["applied"]> | null, isAbsent: boolean): CausedBy {
  if (applied === null || (applied === "same" && !isAbsent)) return "unrecorded";
  return isAbsent && applied !== "absent" ? "drift" : "pending";
}
