import type { Kysely, Transaction } from "kysely";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import { conflict, unprocessable } from "../../http/refusal.ts";
import type { Tables } from "./tables.ts";

/** The stage of that id with the name of its repo, visible or not. */
export async function findStage(
  database: Kysely<Tables>,
  id: string,
): Promise<{ readonly state: string; readonly repo: string } | null> {
  const row = await database
    .selectFrom("stages")
    .innerJoin("ml_repos", "ml_repos.id", "stages.ml_repo_id")
    .select(["stages.state", "ml_repos.name as repo"])
    .where("stages.id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Ends a stage one way or the other. */
export async function setStageState(
  transaction: Transaction<Tables>,
  id: string,
  state: "registered" | "failed",
): Promise<void> {
  await transaction.updateTable("stages").set({ state }).where("id", "=", id).execute();
}

/**
 * Completes the stage whose storage the manifest's source names, and gives its id, which becomes the version's. Null
 * when the source is none of ours, or when the stage was completed by another version before.
 */
export async function completeStage(
  transaction: Transaction<Tables>,
  manifest: JsonObject,
  artifactId: string,
): Promise<string | null> {
  const { source } = manifest;
  const uri = isObject(source) && source.type === "platform" ? text(source.uri) : undefined;
  if (uri === undefined) return null;
  const stage = await transaction.selectFrom("stages").selectAll().where("storage_root", "=", uri).executeTakeFirst();
  if (stage === undefined) return null;
  if (stage.artifact_id !== artifactId) {
    const message = "was staged for another name";
    throw unprocessable([{ pointer: "/source/uri", message, code: "foreign-stage" }]);
  }
  if (stage.state === "failed") throw conflict("stage-failed", "this stage failed, and cannot be registered");
  if (stage.state === "registered") return null;
  await setStageState(transaction, stage.id, "registered");
  return stage.id;
}
