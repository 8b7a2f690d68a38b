/** One thing wrong with a manifest or with the configuration; the message never shows a value. */
export type SchemaDiagnostic = {
  /** JSON Pointer; a missing or unknown field is named itself (`/ports/0/hoost`). */
  readonly pointer: string;
  readonly message: string;
  /** What else helps to mend it, as a sentence: names to choose from, an example. */
  readonly help?: string;
  /** Stable name of the fault, for machines and documentation. */
  readonly code: SchemaDiagnosticCode;
  readonly severity: "error" | "warning";
};

/** The closed set of fault names. */
export type SchemaDiagnosticCode =
  | "duplicate-item"
  | "impossible-date"
  | "inconsistent"
  | "invalid-form"
  | "invalid-value"
  | "missing-field"
  | "out-of-range"
  | "past-date"
  | "too-large"
  | "unknown-field"
  | "unknown-type"
  | "unknown-value"
  | "wrong-type";

/** How many faults of one manifest are reported. */
export const MAX_SCHEMA_DIAGNOSTICS = 100;

/** An error at a place. */
export function error(pointer: string, code: SchemaDiagnosticCode, message: string, help?: string): SchemaDiagnostic {
  return { pointer, message, ...(help === undefined ? {} : { help }), code, severity: "error" };
}

/** A warning at a place. */
export function warning(pointer: string, code: SchemaDiagnosticCode, message: string, help?: string): SchemaDiagnostic {
  return { ...error(pointer, code, message, help), severity: "warning" };
}
