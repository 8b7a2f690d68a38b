import { pointerTokens } from "../contract/json-pointer.ts";
import { redactName } from "../model/connection-secret.ts";
import { escapeName } from "../model/unprintable.ts";

/** An error or warning in a manifest or the configuration. Its message never shows a value. */
export type SchemaDiagnostic = {
  /** The JSON Pointer. A missing or unknown field has its own pointer (`/ports/0/hoost`). */
  readonly pointer: string;
  readonly message: string;
  /** An additional sentence that helps to correct the error: allowed names or an example. */
  readonly help?: string;
  /** A stable code, for programs and documentation. */
  readonly code: SchemaDiagnosticCode;
  readonly severity: "error" | "warning";
  /** Whether it is about the name of the field, and not about its value. */
  readonly isAboutName?: true;
};

/** The codes of diagnostics: a closed set. */
export type SchemaDiagnosticCode =
  | "duplicate-item"
  | "encrypted"
  | "impossible-date"
  | "inconsistent"
  | "invalid-form"
  | "invalid-value"
  | "literal-value"
  | "missing-field"
  | "not-as-written"
  | "out-of-range"
  | "past-date"
  | "too-large"
  | "unknown-field"
  | "unknown-type"
  | "unknown-value"
  | "wrong-type";

/** The maximum number of diagnostics reported for one manifest. */
export const MAX_SCHEMA_DIAGNOSTICS = 100;

/** A longer list of names would not be readable. */
const MAX_NAMES = 24;

/** An error at a pointer. */
export function error(pointer: string, code: SchemaDiagnosticCode, message: string, help?: string): SchemaDiagnostic {
  return { pointer, message, ...(help === undefined ? {} : { help }), code, severity: "error" };
}

/** A warning at a pointer. */
export function warning(pointer: string, code: SchemaDiagnosticCode, message: string, help?: string): SchemaDiagnostic {
  return { ...error(pointer, code, message, help), severity: "warning" };
}

/** A name as messages show it: truncated, without secrets, with invisible characters and unusual spaces escaped. */
export function shown(name: string): string {
  const safe = redactName(name);
  return escapeName(safe.length > 64 ? `${safe.slice(0, 64)}…` : safe);
}

/** The name of the field or item at a pointer, quoted. */
export function named(pointer: string): string {
  const [name, list] = pointerTokens(pointer).toReversed();
  if (name === undefined) return "the document";
  return `\`${/^\d+$/.test(name) && list !== undefined ? `${shown(list)}[${name}]` : shown(name)}\``;
}

/** Names separated by commas, the first ones if there are many. */
export function listed(names: readonly string[]): string {
  const rest = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
