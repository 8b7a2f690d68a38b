import { type Diagnostic, hasErrors } from "../diagnostic.ts";
import { STRICT } from "../run-warning.ts";
import type { ReadEvent } from "./events.ts";

/** Whether nothing is sent of a source in which this was found. Invalid manifests may be left out, warnings may not. */
export function isSourceRefused(
  diagnostics: readonly Diagnostic[],
  { strict, partial }: { readonly strict: boolean; readonly partial: boolean },
): boolean {
  return diagnostics.some(({ severity }) => (severity === "error" ? !partial : strict));
}

/** Why nothing was sent of such a source, and what to do. */
export function sourceRefusal(
  { diagnostics, hasFaultyPolicies }: Pick<ReadEvent, "diagnostics" | "hasFaultyPolicies">,
  { partial = false }: { readonly partial?: boolean },
): { readonly message: string; readonly hint: string } {
  if (partial || !hasErrors(diagnostics)) return STRICT;
  const hint = hasFaultyPolicies
    ? "correct the policies: nothing goes on without them, also with --partial"
    : "--partial goes on with the valid manifests";
  return { message: "the source has errors", hint };
}
