import type { Diagnostic } from "../core/diagnostic.ts";
import { redactCredentials } from "../model/credential.ts";
import type { Position } from "../model/position.ts";
import type { SchemaDiagnostic as SchemaFault } from "../schema/schema-diagnostic.ts";
import type { Fault } from "../yaml/fault.ts";

/** Something wrong with a manifest, in words, before it has a place. */
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

/** A diagnostic of a fault in a file's text. */
export function diagnosticInFile(file: string, fault: Omit<Fault, "offset">, position: Position | null): Diagnostic {
  const { severity, code, summary, detail } = fault;
  return { severity, code, summary, detail, file, line: position?.line ?? null, column: position?.column ?? null };
}

/** Whether a fault is about a field's name or its value, and so which of the two it points at. */
export function keyOrValue({ code }: SchemaFault): "key" | "value" {
  return code === "unknown-field" || code === "missing-field" ? "key" : "value";
}

/** A schema's fault in the words of the source. */
export function wordingOf({ severity, code, message, help }: SchemaFault): Wording {
  return { severity, code, summary: redactCredentials(message), detail: help ?? null };
}
