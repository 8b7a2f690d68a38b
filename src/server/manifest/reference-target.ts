import type { Kysely } from "kysely";
import type { Principal } from "../auth/principal.ts";
import type { Tables } from "../database/tables.ts";

/** Something that manifests can refer to. */
export type ReferenceTarget = {
  readonly kind: string;
  /** Which of these keys exist; at most 500 are asked at once. */
  readonly existing: (database: Kysely<Tables>, keys: readonly string[]) => Promise<readonly string[]>;
  /** Whether the principal may refer to it; absent where everyone may, since naming it shows nothing of it. */
  readonly isVisible?: (principal: Principal, key: string) => boolean;
  /** What the principal would have to be allowed to do, for the refusal; by default to see it. */
  readonly verb?: string;
};
