/** The commit that removed a manifest from a source; null in each field where it is not committed. */
export type Removal = { readonly commit: string | null; readonly author: string | null; readonly at: string | null };
