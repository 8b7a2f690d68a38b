import { systemPrincipal } from "../auth/principal.ts";

/** The outcome of copying one row. */
export type CopyOutcome =
  | { readonly result: "exists" }
  /** `resource` is `kind/key`, as in the audit. */
  | { readonly result: "copied"; readonly resource: string }
  | { readonly result: "refused"; readonly why: string };

/** The principal that copies, in the audit and as the creator of placeholders. */
export const snapshotPrincipal = systemPrincipal("snapshot");

/** The outcome of a row that cannot be copied. */
export function notCopied(why: string): CopyOutcome {
  return { result: "refused", why };
}
