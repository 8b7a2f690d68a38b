import type { Kysely, Transaction } from "kysely";
import type { Artifact, MlRepo, ModelVersion, PromptVersion, Subject } from "../../../contract/generated/resources.ts";
import { tenant } from "../../auth/principal.ts";
import { fromText, type JsonText, toText } from "../../database/json-text.ts";
import type { ResourceRow, Stored, Tables } from "../../database/tables.ts";

/** A stored artifact; a reply adds its latest version, and the steps of all versions. */
export type FoundArtifact = ArtifactRow & {
  /** Number of the newest version, 0 when there is none. */
  readonly newest: number;
};

/** An artifact as stored: a reply adds the data of its versions. */
type ArtifactRow = Omit<Artifact, "latest_version" | "run_steps">;

declare module "../../database/tables.ts" {
  interface Tables {
    /** Artifacts by the `type` of their versions (`model-version`, `chat_prompt`, `artifact-version`). */
    readonly artifacts: ResourceRow<ArtifactRow> & {
      readonly type: string;
      readonly ml_repo_id: string;
      readonly name: string;
      /** Number of the newest version, 0 when none is registered. */
      readonly newest: number;
    };
    readonly artifact_versions: ResourceRow<ModelVersion | PromptVersion> & {
      readonly artifact_id: string;
      readonly type: string;
      readonly ml_repo_id: string;
      readonly name: string;
      readonly version: number;
      readonly fqn: string;
      readonly alias: string | null;
      readonly run_id: string | null;
      readonly step: number | null;
    };
  }
}

/** Manifest types with versions, and the scheme of their fqns. */
export const registryTypes = {
  chat_prompt: "chat_prompt",
  "model-version": "model",
  "artifact-version": "artifact",
} as const;

/** A manifest type with versions. */
export type RegistryType = keyof typeof registryTypes;

/** Identifies an artifact in the registry. */
export type RegistryKey = { readonly type: RegistryType; readonly repo: string; readonly name: string };

/** The artifact of that name; null when it is absent. */
export async function findArtifact(
  database: Kysely<Tables>,
  repoId: string,
  { type, name }: RegistryKey,
): Promise<FoundArtifact | null> {
  const row = await database
    .selectFrom("artifacts")
    .select(["json", "newest"])
    .where("ml_repo_id", "=", repoId)
    .where("type", "=", type)
    .where("name", "=", name)
    .executeTakeFirst();
  return row === undefined ? null : { ...fromText(row.json), newest: row.newest };
}

/** Inserts an artifact without versions. */
export async function insertArtifact(
  transaction: Transaction<Tables>,
  { id: ml_repo_id }: Stored<MlRepo>,
  place: RegistryKey,
  subject: Subject,
  { id, now }: { readonly id: string; readonly now: string },
): Promise<FoundArtifact> {
  const artifact = {
    id,
    ml_repo_id,
    name: place.name,
    fqn: artifactFqn(place),
    type: registryTypes[place.type],
    created_by_subject: subject,
    created_at: now,
    updated_at: now,
  };
  await transaction
    .insertInto("artifacts")
    .values({ id, created_at: now, json: toText(artifact), type: place.type, ml_repo_id, name: place.name, newest: 0 })
    .execute();
  return { ...artifact, newest: 0 };
}

/** Updates an artifact after a version was added or changed. */
export async function touchArtifact(
  transaction: Transaction<Tables>,
  { newest, ...artifact }: FoundArtifact,
  version: number,
  now: string,
): Promise<void> {
  await transaction
    .updateTable("artifacts")
    .set({ json: toText({ ...artifact, updated_at: now }), newest: Math.max(newest, version) })
    .where("id", "=", artifact.id)
    .execute();
}

/** The artifact of that id with its newest version, in one of these repos (null for any). */
export async function findArtifactById(
  database: Kysely<Tables>,
  id: string,
  repos: readonly string[] | null,
): Promise<{
  readonly artifact: JsonText<ArtifactRow>;
  readonly latest: JsonText<ModelVersion | PromptVersion> | null;
} | null> {
  const rows = database
    .selectFrom("artifacts as a")
    .innerJoin("ml_repos as r", "r.id", "a.ml_repo_id")
    .leftJoin("artifact_versions as v", (join) =>
      join.onRef("v.artifact_id", "=", "a.id").onRef("v.version", "=", "a.newest"),
    )
    .select(["a.json as artifact", "v.json as latest"])
    .where("a.id", "=", id);
  const row = await (repos === null ? rows : rows.where("r.name", "in", repos)).executeTakeFirst();
  return row ?? null;
}

/** The distinct steps of an artifact's versions, sorted. */
export async function listSteps(database: Kysely<Tables>, artifactId: string): Promise<readonly number[]> {
  const rows = await database
    .selectFrom("artifact_versions")
    .select("step")
    .distinct()
    .where("artifact_id", "=", artifactId)
    .where("step", "is not", null)
    .orderBy("step")
    .execute();
  return rows.map(({ step }) => Number(step));
}

/** The fqn of an artifact: `model:tenant/repo/name`. */
function artifactFqn({ type, repo, name }: RegistryKey): string {
  return `${registryTypes[type]}:${tenant}/${repo}/${name}`;
}

/** The fqn of one version: `model:tenant/repo/name:3`. */
export function versionFqn(place: RegistryKey, version: number): string {
  return `${artifactFqn(place)}:${version}`;
}

/** The identity of one version in the audit: `model-version/repo/name@3`. */
export function versionIdentity({ type, repo, name }: RegistryKey, version: number): string {
  return `${type}/${repo}/${name}@${version}`;
}
