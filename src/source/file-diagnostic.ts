import type { Diagnostic } from "../core/diagnostic.ts";
import { redactCredentials } from "../model/credential.ts";
import type { SchemaDiagnostic as SchemaFault } from "../schema/schema-diagnostic.ts";
import type { Fault } from "../yaml/fault.ts";
import type { Position } from "../yaml/locator.ts";

/** The text of a fault, without its position. */
export type Wording = Omit<Fault, "offset" | "other">;

/** A diagnostic about a file as a whole. */
export function fileDiagnostic(
  severity: Diagnostic["severity"],
  code: string,
  file: string,
  summary: string,
  detail: string | null = null,
): Diagnostic {
  return { severity, code, summary, detail, file, line: null, column: null };
}

/** A diagnostic about a fault in the text of a file. */
export function diagnosticInFile(file: string, fault: Omit<Fault, "offset">, position: Position | null): Diagnostic {
  const { severity, code, summary, detail } = fault;
  return { severity, code, summary, detail, file, line: position?.line ?? null, column: position?.column ?? null };
}

/** Whether a fault is about the name or the value of a field, which decides the position that is reported. */
export function keyOrValue({ code, isAboutName }: SchemaFault): "key" | "value" {
  return code === "unknown-field" || code === "missing-field" || isAboutName ? "key" : "value";
}

/** The text of a schema fault, without credentials. */
export function wordingOf({ severity, code, message, help }: SchemaFault): Wording {
  return { severity, code, summary: redactCredentials(message), detail: help ?? null };
}
