import type { Orphan } from "../contract/generated/output.ts";

/** The commit that removed a manifest from a source; null in each field where it is not committed. */
export type Removal = NonNullable<Orphan["removedBy"]>;
