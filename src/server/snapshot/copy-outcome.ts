import { systemPrincipal } from "../auth/principal.ts";

/** What has become of one row. */
export type CopyOutcome =
  | { readonly result: "exists" }
  /** `resource` is `kind/key`, as the audit names it. */
  | { readonly result: "copied"; readonly resource: string }
  | { readonly result: "refused"; readonly why: string };

/** Who copies, in the audit and as the maker of placeholders. */
export const snapshotPrincipal = systemPrincipal("snapshot");

/** A row that cannot be copied. */
export function notCopied(why: string): CopyOutcome {
  return { result: "refused", why };
}
