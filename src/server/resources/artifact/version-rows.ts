import type { Kysely, Transaction } from "kysely";
import type { ModelVersion, PromptVersion, Subject } from "../../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../../contract/json.ts";
import { fromText, toText } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import type { RegistryKey } from "./registry-key.ts";

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

/** The version of that number. */
export async function findVersion(
  database: Kysely<Tables>,
  artifactId: string,
  version: number,
): Promise<VersionBase | null> {
  const row = await database
    .selectFrom("artifact_versions")
    .select("json")
    .where("artifact_id", "=", artifactId)
    .where("version", "=", version)
    .executeTakeFirst();
  return row === undefined ? null : baseOf(fromText(row.json));
}

/** A version to be inserted. */
export type NewVersion = {
  readonly artifactId: string;
  readonly place: RegistryKey;
  readonly version: number;
  readonly resource: ModelVersion | PromptVersion;
};

/** Inserts a new version. */
export async function insertVersionRow(
  transaction: Transaction<Tables>,
  { artifactId, place, version, resource }: NewVersion,
): Promise<void> {
  const { id, fqn, created_at, ml_repo_id, manifest } = resource;
  await transaction
    .insertInto("artifact_versions")
    .values({
      id,
      created_at,
      json: toText(resource),
      artifact_id: artifactId,
      type: place.type,
      ml_repo_id,
      name: place.name,
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

/** Removes an alias from the version that has it, because it moves to another one. */
export async function releaseAlias(
  transaction: Transaction<Tables>,
  artifactId: string,
  { alias, newOwner, now }: { readonly alias: string | null; readonly newOwner: string; readonly now: string },
): Promise<void> {
  if (alias === null) return;
  const rows = await transaction
    .selectFrom("artifact_versions")
    .select(["id", "json"])
    .where("artifact_id", "=", artifactId)
    .where("alias", "=", alias)
    .where("id", "!=", newOwner)
    .execute();
  for (const { json } of rows) await updateVersionRow(transaction, withoutAlias(fromText(json), now));
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
