import { type Diagnostic, hasErrors } from "../diagnostic.ts";
import { STRICT } from "../run-warning.ts";

/** Whether nothing is sent of a source in which this was found. Invalid manifests may be left out, warnings may not. */
export function isSourceRefused(
  diagnostics: readonly Diagnostic[],
  { strict, partial }: { readonly strict: boolean; readonly partial: boolean },
): boolean {
  return diagnostics.some(({ severity }) => (severity === "error" ? !partial : strict));
}

/** Why nothing was sent of such a source, and what to do. */
export function sourceRefusal(
  diagnostics: readonly Diagnostic[],
  { partial = false }: { readonly partial?: boolean },
): { readonly message: string; readonly hint: string } {
  if (partial || !hasErrors(diagnostics)) return STRICT;
  return { message: "the source has errors", hint: "--partial goes on with the valid manifests" };
}
