import { sortDiagnostics } from "../core/diagnostic.ts";
import type { HoldfastError } from "../core/errors.ts";
import { jsonText } from "./json.ts";

/** Why a command ended without its result, as JSON. */
export function failureReport({
  code,
  message,
  hint,
  diagnostics,
}: Pick<HoldfastError, "code" | "message" | "hint" | "diagnostics">): string {
  return jsonText({ format_version: "2.0", error: { code, message, hint }, diagnostics: sortDiagnostics(diagnostics) });
}
