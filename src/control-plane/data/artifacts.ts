import type { Kysely, Transaction } from "kysely";
import type { Artifact, Subject } from "../../contract/resources.ts";
import { fromText, toText } from "../json-text.ts";
import { artifactFqn, type RegistryPlace, registryTypes } from "../registry.ts";
import type { Tables } from "./tables.ts";

/** An artifact as it is kept: a reply adds its latest version. */
export type KeptArtifact = Omit<Artifact, "latest_version"> & {
  /** Number of the newest version, 0 when there is none. */
  readonly newest: number;
};

/** What the versions of that name have in common; null when the name is new. */
export async function findArtifact(
  database: Kysely<Tables>,
  repoId: string,
  { type, name }: RegistryPlace,
): Promise<KeptArtifact | null> {
  const row = await database
    .selectFrom("artifacts")
    .select(["json", "newest"])
    .where("ml_repo_id", "=", repoId)
    .where("type", "=", type)
    .where("name", "=", name)
    .executeTakeFirst();
  return row === undefined ? null : { ...fromText(row.json), newest: row.newest };
}

/** What a new artifact is made from. */
export type NewArtifact = {
  readonly id: string;
  readonly repoId: string;
  readonly place: RegistryPlace;
  readonly subject: Subject;
  readonly now: string;
};

/** Keeps an artifact that has no version yet. */
export async function addArtifact(
  transaction: Transaction<Tables>,
  { id, repoId, place, subject, now }: NewArtifact,
): Promise<KeptArtifact> {
  const artifact = {
    id,
    ml_repo_id: repoId,
    name: place.name,
    fqn: artifactFqn(place),
    type: registryTypes[place.type],
    created_by_subject: subject,
    created_at: now,
    updated_at: now,
    run_steps: [],
  };
  await transaction
    .insertInto("artifacts")
    .values({
      id,
      created_at: now,
      json: toText(artifact),
      type: place.type,
      ml_repo_id: repoId,
      name: place.name,
      newest: 0,
    })
    .execute();
  return { ...artifact, newest: 0 };
}

/** Says that a version was added or changed. */
export async function touchArtifact(
  transaction: Transaction<Tables>,
  { newest: _, ...artifact }: KeptArtifact,
  { version, step, now }: { readonly version: number; readonly step: number | null; readonly now: string },
): Promise<void> {
  const steps = new Set([...artifact.run_steps, ...(step === null ? [] : [step])]);
  const changed = { ...artifact, updated_at: now, run_steps: [...steps].toSorted((a, b) => a - b) };
  await transaction
    .updateTable("artifacts")
    .set(({ eb }) => ({
      json: toText(changed),
      newest: eb.case().when("newest", "<", version).then(version).else(eb.ref("newest")).end(),
    }))
    .where("id", "=", artifact.id)
    .execute();
}
