import type { Failure } from "../contract/generated/output.ts";
import { sortDiagnostics } from "../core/diagnostic.ts";
import type { HoldfastError } from "../core/errors.ts";
import { printable } from "./escape.ts";
import { jsonText } from "./json.ts";

/** What a command says of its end without a result. */
export type Ending = Pick<HoldfastError, "code" | "message" | "hint" | "diagnostics">;

type Said = Pick<Ending, "message" | "hint"> & Partial<Pick<Ending, "code">>;

/** What went wrong, and what to do now; what was asked for is no error. */
export function failureText({ code, message, hint }: Said): string {
  const isAsked = code === "interrupted" || code === "terminated";
  const next = hint === null ? "" : `  → ${printable(hint)}\n`;
  return `${isAsked ? "" : "error: "}${printable(message)}\n${next}`;
}

/** Why a command ended without its result, as JSON. */
export function failureReport({ code, message, hint, diagnostics }: Ending): string {
  const report: Failure = {
    format_version: "2.0",
    error: { code, message, hint },
    diagnostics: sortDiagnostics(diagnostics),
  };
  return jsonText(report);
}
