import type { Kysely } from "kysely";
import type { Principal } from "../auth/principal.ts";
import type { Tables } from "../database/tables.ts";

/** A kind of resource that manifests can refer to. */
export type ReferenceTarget = {
  readonly kind: string;
  /** Which of these keys exist; called with at most 500. */
  readonly existing: (database: Kysely<Tables>, keys: readonly string[]) => Promise<readonly string[]>;
  /** Whether the principal may refer to it; absent when everyone may. */
  readonly isVisible?: (principal: Principal, key: string) => boolean;
  /** The permission that is missing, for the error message. @default "see" */
  readonly verb?: string;
};
