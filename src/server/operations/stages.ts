import type { Transaction } from "kysely";
import type { JsonObject } from "../../contract/json.ts";
import { conflict, forbidden, notFound } from "../../http/refusal.ts";
import { checkMeaning } from "../../schema/meaning.ts";
import { may } from "../access.ts";
import { wellFormedArtifact } from "../artifact-manifest.ts";
import type { Handler } from "../call.ts";
import { type Context, timestamp } from "../context.ts";
import { addArtifact, findArtifact } from "../data/artifacts.ts";
import { recordEffect } from "../data/audit.ts";
import { repoToWrite } from "../data/ml-repos.ts";
import { findStage, setStageState } from "../data/stages.ts";
import type { Tables } from "../data/tables.ts";
import { toText } from "../json-text.ts";
import { nameOf, requiredText } from "../name.ts";
import type { Principal } from "../principal.ts";
import { type Served, serve } from "../serve.ts";
import { errorsOf, wellFormed } from "../well-formed.ts";

const stageArtifactVersion: Handler<"stageArtifactVersion"> = async ({ principal, body }, context) => {
  const manifest =
    body.manifest.type === "artifact-version"
      ? wellFormedArtifact(body.manifest)
      : wellFormed(context, ["model-version", "artifact-version"], body.manifest);
  const id = context.newId();
  // The room comes first: a stage that is answered can take its files.
  const storageRoot = await context.artifacts.prepare(id);
  try {
    const wanted = { id, storageRoot, principal, manifest };
    const artifactId = await context.store.write((transaction) => stage(transaction, wanted, context));
    return toText({ id, storage_root: storageRoot, artifact_id: artifactId });
  } catch (error) {
    await context.artifacts.discard(id);
    throw error;
  }
};

const markStageFailure: Handler<"markStageFailure"> = async ({ principal, body: { id } }, context) => {
  await context.store.write(async (transaction) => {
    const { state } = await stageToWrite(transaction, principal, id);
    if (state === "registered") throw conflict("stage-registered", "this stage is a version already");
    if (state === "failed") return;
    await setStageState(transaction, id, "failed");
    await recordEffect(transaction, context, { principal, operation: "markStageFailure", resource: `stage/${id}` });
  });
  return undefined;
};

/** The operations on stages: 20 and 15. */
export const stages: readonly Served[] = [
  serve("stageArtifactVersion", stageArtifactVersion),
  serve("markStageFailure", markStageFailure),
];

type NewStage = {
  readonly id: string;
  readonly storageRoot: string;
  readonly principal: Principal;
  readonly manifest: JsonObject;
};

async function stage(
  transaction: Transaction<Tables>,
  { id, storageRoot, principal, manifest }: NewStage,
  context: Context,
): Promise<string> {
  const type = manifest.type === "artifact-version" ? "artifact-version" : "model-version";
  const repo = await repoToWrite(transaction, principal, manifest, errorsOf(checkMeaning(type, manifest)));
  const place = { type, repo: requiredText(manifest, "ml_repo"), name: nameOf(manifest) } as const;
  const now = timestamp(context);
  const artifact =
    (await findArtifact(transaction, repo.id, place)) ??
    (await addArtifact(transaction, {
      id: context.newId(),
      repoId: repo.id,
      place,
      subject: principal.subject,
      now,
    }));
  await transaction
    .insertInto("stages")
    .values({
      id,
      artifact_id: artifact.id,
      ml_repo_id: repo.id,
      storage_root: storageRoot,
      state: "open",
      created_at: now,
    })
    .execute();
  const effect = { principal, operation: "stageArtifactVersion", resource: `stage/${id}` } as const;
  await recordEffect(transaction, context, effect);
  return artifact.id;
}

async function stageToWrite(transaction: Transaction<Tables>, principal: Principal, id: string) {
  const found = await findStage(transaction, id);
  const target = { type: "ml-repo", name: found?.repo ?? "" } as const;
  if (found === null || !may(principal, "read", target)) throw notFound("the staged version");
  if (!may(principal, "write", target)) throw forbidden("you may not write in this ml repo");
  return found;
}
