/** An error or warning in a manifest or the configuration, by JSON Pointer; the message never shows a value. */
export type SchemaDiagnostic = {
  /** JSON Pointer; of a missing or unknown field its own (`/ports/0/hoost`). */
  readonly pointer: string;
  readonly message: string;
  /** A further sentence that helps to correct it: names to choose from, an example. */
  readonly help?: string;
  /** Stable code for machines and documentation. */
  readonly code: SchemaDiagnosticCode;
  readonly severity: "error" | "warning";
};

/** All codes. */
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

/** The maximum number of diagnostics reported for one manifest. */
export const MAX_SCHEMA_DIAGNOSTICS = 100;

/** An error at a pointer. */
export function error(pointer: string, code: SchemaDiagnosticCode, message: string, help?: string): SchemaDiagnostic {
  return { pointer, message, ...(help === undefined ? {} : { help }), code, severity: "error" };
}

/** A warning at a pointer. */
export function warning(pointer: string, code: SchemaDiagnosticCode, message: string, help?: string): SchemaDiagnostic {
  return { ...error(pointer, code, message, help), severity: "warning" };
}
