import { innerPrincipal } from "../auth/principal.ts";

/** What has become of one row. */
export type Copied =
  | { readonly result: "exists" }
  /** `resource` is `kind/key`, as the audit names it. */
  | { readonly result: "copied"; readonly resource: string }
  | { readonly result: "refused"; readonly why: string };

/** Who copies, in the audit and as the maker of placeholders. */
export const copier = innerPrincipal("snapshot");

/** A row that cannot be copied. */
export function refused(why: string): Copied {
  return { result: "refused", why };
}
