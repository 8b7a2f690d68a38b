import type { Kysely } from "kysely";
import type { ModelVersion, PromptVersion } from "../../../contract/generated/resources.ts";
import type { Principal } from "../../auth/principal.ts";
import type { JsonText } from "../../database/json-text.ts";
import { selectPage } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import type { PageRequest } from "../../http/operation-call.ts";
import { visibleRepoIds } from "../ml-repo.ts";
import type { RegistryType } from "./registry-key.ts";

/** The filters of a list of versions; each matches exactly. */
export type VersionFilters = {
  readonly artifact_id?: string | undefined;
  readonly ml_repo_id?: string;
  readonly name?: string;
  readonly fqn?: string;
  readonly tag?: string;
  readonly version?: number;
  readonly run_ids?: readonly string[];
  readonly run_steps?: readonly number[];
};

/** One page of the versions that a principal may see, newest first. */
export async function listVersions<Version extends ModelVersion | PromptVersion>(
  database: Kysely<Tables>,
  principal: Principal,
  type: RegistryType,
  filters: VersionFilters,
  wanted: PageRequest,
): Promise<{ readonly rows: readonly JsonText<Version>[]; readonly total: number }> {
  // No operation sets a tag, so no version matches.
  if (filters.tag !== undefined) return { rows: [], total: 0 };
  const visible = visibleRepoIds(database, principal);
  let rows = database.selectFrom("artifact_versions").where("type", "=", type);
  if (visible !== null) rows = rows.where("ml_repo_id", "in", visible);
  for (const column of ["artifact_id", "ml_repo_id", "name", "fqn", "version"] as const) {
    const value = filters[column];
    if (value !== undefined) rows = rows.where(column, "=", value);
  }
  if (filters.run_ids !== undefined) rows = rows.where("run_id", "in", filters.run_ids);
  if (filters.run_steps !== undefined) rows = rows.where("step", "in", filters.run_steps);
  return selectPage(rows.select("json").$castTo<{ json: JsonText<Version> }>(), wanted);
}
