import type { Kysely, Transaction } from "kysely";
import type { ModelVersion, PromptVersion, Subject } from "../../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../../contract/json.ts";
import type { Principal } from "../../auth/principal.ts";
import { fromText, type JsonText, toText } from "../../database/json-text.ts";
import { resourceBy } from "../../database/resource-rows.ts";
import { selectPage } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import type { PageRequest } from "../../http/operation-call.ts";
import { visibleRepoIds } from "../ml-repo.ts";
import type { RegistryKey, RegistryType } from "./rows.ts";

/** The common fields of registry versions. */
export type VersionBase = {
  readonly id: string;
  readonly fqn: string;
  readonly ml_repo_id: string;
  readonly created_by_subject: Subject;
  readonly created_at: string;
  readonly updated_at: string;
  readonly manifest: JsonObject;
  readonly tags: readonly string[];
};

const versionBy = resourceBy("artifact_versions", "artifact_id", "version");

/** The version of that number. */
export async function findVersion(
  database: Kysely<Tables>,
  artifactId: string,
  version: number,
): Promise<VersionBase | null> {
  const found = await versionBy(database, artifactId, version);
  return found && baseOf(found);
}

/** Inserts a new version. */
export async function insertVersionRow(
  transaction: Transaction<Tables>,
  artifact_id: string,
  { type, name, version }: RegistryKey & { readonly version: number },
  resource: ModelVersion | PromptVersion,
): Promise<void> {
  const { id, fqn, created_at, ml_repo_id, manifest } = resource;
  await transaction
    .insertInto("artifact_versions")
    .values({
      id,
      created_at,
      json: toText(resource),
      artifact_id,
      type,
      ml_repo_id,
      name,
      version,
      fqn,
      alias: text(manifest.version_alias) ?? null,
      run_id: text(manifest.run_id) ?? null,
      step: typeof manifest.step === "number" ? manifest.step : null,
    })
    .execute();
}

/** Updates the fields of a version that may change in place. */
export async function updateVersionRow(
  transaction: Transaction<Tables>,
  resource: ModelVersion | PromptVersion,
): Promise<void> {
  await transaction
    .updateTable("artifact_versions")
    .set({ json: toText(resource), alias: text(resource.manifest.version_alias) ?? null })
    .where("id", "=", resource.id)
    .execute();
}

/** Removes an alias from the version that has it, because it moves to another one; returns the numbers of changed versions. */
export async function releaseAlias(
  transaction: Transaction<Tables>,
  artifactId: string,
  { alias, newOwner, now }: { readonly alias: string | null; readonly newOwner: string; readonly now: string },
): Promise<readonly number[]> {
  if (alias === null) return [];
  const rows = await transaction
    .selectFrom("artifact_versions")
    .select(["version", "json"])
    .where("artifact_id", "=", artifactId)
    .where("alias", "=", alias)
    .where("id", "!=", newOwner)
    .execute();
  for (const { json } of rows) await updateVersionRow(transaction, withoutAlias(fromText(json), now));
  return rows.map(({ version }) => version);
}

/** Whether the repo has a version of the run. */
export async function runExists(transaction: Transaction<Tables>, repoId: string, runId: string): Promise<boolean> {
  const row = await transaction
    .selectFrom("artifact_versions")
    .select("id")
    .where("ml_repo_id", "=", repoId)
    .where("run_id", "=", runId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

function baseOf({
  id,
  fqn,
  ml_repo_id,
  created_by_subject,
  created_at,
  updated_at,
  manifest,
  tags,
}: VersionBase): VersionBase {
  return { id, fqn, ml_repo_id, created_by_subject, created_at, updated_at, manifest, tags };
}

function withoutAlias<Version extends VersionBase>(resource: Version, now: string): Version {
  const { version_alias: _, ...manifest } = resource.manifest;
  return { ...resource, manifest, updated_at: now };
}

/** One page of the versions that a principal may see, newest first. */
export async function listVersions<Version extends ModelVersion | PromptVersion>(
  database: Kysely<Tables>,
  principal: Principal,
  type: RegistryType,
  filters: {
    readonly artifact_id?: string | undefined;
    readonly ml_repo_id?: string;
    readonly name?: string;
    readonly fqn?: string;
    readonly tag?: string;
    readonly version?: number;
    readonly run_ids?: readonly string[];
    readonly run_steps?: readonly number[];
  },
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
