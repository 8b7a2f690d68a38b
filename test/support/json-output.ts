import { AssertionError } from "node:assert";
import type { StatusDocument } from "../../src/contract/generated/output.ts";
import type { Plan } from "../../src/core/plan/plan.ts";
import type { ApplyReport, DriftReport, ValidationReport } from "../../src/core/report/report.ts";
import { faultsOf } from "./output-schemas.ts";
import type { Ended } from "./process.ts";

/** What `plan -o json` wrote. */
export function planOf({ stdout }: Ended): Plan {
  return JSON.parse(stdout);
}

/** What `apply -o json` wrote. */
export function reportOf({ stdout }: Ended): ApplyReport {
  return JSON.parse(stdout);
}

/** What `drift -o json` wrote. */
export function driftOf({ stdout }: Ended): DriftReport {
  return JSON.parse(stdout);
}

/** What `validate -o json` wrote. */
export function validationOf({ stdout }: Ended): ValidationReport {
  return JSON.parse(stdout);
}

/** What `status -o json` or `reconcile -o json` wrote, which keeps to its schema. */
export function statusOf({ stdout }: Ended): StatusDocument {
  const actual = faultsOf("status", stdout);
  if (actual.length > 0) throw new AssertionError({ message: "no such status", actual, expected: [] });
  return JSON.parse(stdout);
}
