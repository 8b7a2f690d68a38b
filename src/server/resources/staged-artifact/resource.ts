// src/server/resources/staged-artifact: uploads that no model version has yet. See docs/architecture.md#a-new-resource-of-the-control-plane.

import type { Kysely, Transaction } from "kysely";
import type { ErrorDetail } from "../../../contract/generated/resources.ts";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { conflict, forbidden, notFound, unprocessable } from "../../../http/http-error.ts";
import { checkSemantics } from "../../../schema/check-semantics.ts";
import { isAllowed } from "../../auth/access.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { toText } from "../../database/json-text.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import {
  errorDetails,
  requiredName,
  requiredText,
  requireValidManifest,
} from "../../manifest/require-valid-manifest.ts";
import { manifestSchemaName, pickProperties, refTo, type Schemas } from "../../openapi/json-schema.ts";
import type { ResourceDefinition } from "../../resource.ts";
import { artifactsSection } from "../artifact/resource.ts";
import { findArtifact, insertArtifact } from "../artifact/rows.ts";
import { repoScope, repoTarget, requireWritableRepo } from "../ml-repo.ts";
import type { StagePlace } from "./artifact-storage.ts";
import { closeFileStage, countStagedBytes, findFileStage, insertFileStage } from "./file-rows.ts";
import { sweepStages } from "./sweep-stages.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    /** Staged versions: `state` is `open`, `registered` or `failed`. */
    readonly stages: {
      readonly id: string;
      readonly artifact_id: string;
      readonly ml_repo_id: string;
      readonly storage_root: string;
      readonly state: string;
      readonly created_at: string;
    };
  }
}

const stageArtifactVersion: Handler<"stageArtifactVersion"> = async ({ principal, body }, context) => {
  const manifest =
    body.manifest.type === "artifact-version"
      ? requireValidArtifact(body.manifest)
      : requireValidManifest(context, ["model-version", "artifact-version"], body.manifest);
  const id = context.newId();
  // The storage is created first, so that a stage in a reply can take files.
  const place = await context.artifacts.prepare(id);
  try {
    const wanted = { id, place, principal, manifest };
    const artifactId = await context.store.write((transaction) => stage(transaction, wanted, context));
    return toText({ id, storage_root: place.storageRoot, artifact_id: artifactId });
  } catch (error) {
    await context.artifacts.discard(id);
    throw error;
  }
};

const markStageFailure: Handler<"markStageFailure"> = async ({ principal, body: { id } }, context) => {
  await context.store.write(async (transaction) => {
    const { state } = await stageToWrite(transaction, principal, id);
    if (state === "registered") throw conflict("stage-registered", "this stage is registered as a version already");
    if (state === "failed") return;
    await setStageState(transaction, id, "failed");
    await recordEffect(transaction, context, { principal, operation: "markStageFailure", resource: `stage/${id}` });
  });
  return undefined;
};

/** The operations on stages: 20 and 15. */
export const resource: ResourceDefinition = {
  section: artifactsSection,
  operations: [
    defineOperation("stageArtifactVersion", stageArtifactVersion, {
      scope: ({ manifest }) => repoScope(text(manifest.ml_repo)),
      description:
        "Creates storage for the files of a version: put them under `storage_root`, then register the version with that `source`, or mark the stage as failed. The version is listed after it is registered.\n\nA `storage_root` that begins with `https://` is on this server, and needs no token until it expires: `PUT {storage_root}/PATH` stores a file, `GET` and `HEAD` read it, `GET {storage_root}/` lists the files with their sizes and digests.",
      replySchema: "StagedArtifact",
      manifest: {
        description: "A model version, or a version of a plain artifact",
        oneOf: [{ $ref: refTo("ModelVersionManifest") }, { $ref: refTo("ArtifactVersionManifest") }],
        discriminator: {
          propertyName: "type",
          mapping: {
            "model-version": refTo("ModelVersionManifest"),
            "artifact-version": refTo("ArtifactVersionManifest"),
          },
        },
      },
    }),
    defineOperation("markStageFailure", markStageFailure, {
      scope: async ({ members }, database) => repoScope((await findStage(database, text(members.id) ?? ""))?.repo),
      description:
        "A failed stage cannot be registered any more. May be repeated; a registered version, staged or not, is 409.",
      members: {
        id: {
          description: "Id of the staged version",
          minLength: 1,
          examples: ["019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"],
        },
      },
    }),
  ],
  manifestSchemas: artifactSchemas,
  jobs: [{ name: "staged files", run: sweepStages }],
  gauges: [
    {
      name: "holdfast_staged_files_bytes",
      help: "Size of the files of staged and registered versions that went through the server.",
      shownTo: "trusted",
      read: ({ store }) => countStagedBytes(store.read),
    },
  ],
};

const forms: readonly { readonly field: string; readonly form: RegExp; readonly says: string }[] = [
  { field: "name", form: /^[A-Za-z0-9_-]{1,256}$/, says: "1 to 256 letters, digits, '-' or '_'" },
  { field: "ml_repo", form: /^[A-Za-z0-9][A-Za-z0-9_.-]{1,99}$/, says: "the name of an ml repo" },
];

async function stage(
  transaction: Transaction<Tables>,
  {
    id,
    place: { uri, expiresAt },
    principal,
    manifest,
  }: {
    readonly id: string;
    readonly place: StagePlace;
    readonly principal: Principal;
    readonly manifest: JsonObject;
  },
  context: Context,
): Promise<string> {
  const type = manifest.type === "artifact-version" ? "artifact-version" : "model-version";
  const repo = await requireWritableRepo(
    transaction,
    principal,
    manifest,
    errorDetails(checkSemantics(type, manifest)),
    context,
  );
  const key = { type, repo: requiredText(manifest, "ml_repo"), name: requiredName(manifest) } as const;
  const now = timestamp(context);
  const artifact =
    (await findArtifact(transaction, repo.id, key)) ??
    (await insertArtifact(transaction, repo, key, principal.subject, { id: context.newId(), now }));
  await transaction
    .insertInto("stages")
    .values({
      id,
      artifact_id: artifact.id,
      ml_repo_id: repo.id,
      storage_root: uri,
      state: "open",
      created_at: now,
    })
    .execute();
  if (expiresAt !== null) await insertFileStage(transaction, id, expiresAt, principal);
  const effect = { principal, operation: "stageArtifactVersion", resource: `stage/${id}` } as const;
  await recordEffect(transaction, context, effect);
  return artifact.id;
}

async function stageToWrite(transaction: Transaction<Tables>, principal: Principal, id: string) {
  const found = await findStage(transaction, id);
  const target = repoTarget(found?.repo ?? "");
  if (found === null || !isAllowed(principal, "read", target)) throw notFound("the staged version");
  if (!isAllowed(principal, "write", target)) throw forbidden("you may not write in this ml repo");
  return found;
}

/** The stage of that id with its repo, visible or not; a version that was never staged counts as registered. */
async function findStage(
  database: Kysely<Tables>,
  id: string,
): Promise<{ readonly state: string; readonly repo: string } | null> {
  const row = await database
    .selectFrom("stages")
    .innerJoin("ml_repos", "ml_repos.id", "stages.ml_repo_id")
    .select(["stages.state", "ml_repos.name as repo"])
    .where("stages.id", "=", id)
    .executeTakeFirst();
  return row ?? (await findRegistered(database, id));
}

async function findRegistered(database: Kysely<Tables>, id: string) {
  const version = await database
    .selectFrom("artifact_versions")
    .innerJoin("ml_repos", "ml_repos.id", "artifact_versions.ml_repo_id")
    .select("ml_repos.name as repo")
    .where("artifact_versions.id", "=", id)
    .executeTakeFirst();
  return version === undefined ? null : { state: "registered", repo: version.repo };
}

/** Sets the final state of a stage, which takes no files any more. */
async function setStageState(
  transaction: Transaction<Tables>,
  id: string,
  state: "registered" | "failed",
): Promise<void> {
  // Before the state: an upload that ends at the same time waits for this row, or this transaction for the upload.
  await closeFileStage(transaction, id);
  await transaction.updateTable("stages").set({ state }).where("id", "=", id).execute();
}

/**
 * Completes the stage whose storage the manifest's source names, and returns its id, which becomes the version's. Null
 * when the source is no stage, or was completed by another version.
 */
export async function completeStage(
  transaction: Transaction<Tables>,
  manifest: JsonObject,
  artifactId: string,
  { artifacts }: Context,
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
  if (stage.state === "failed") throw conflict("stage-failed", "this stage failed and cannot be registered");
  if (stage.state === "registered") return null;
  const served = await findFileStage(transaction, stage.id);
  if (served === null ? await artifacts.isEmpty(uri) : Number(served.files) === 0) {
    const message = "has no files: put them under the stage's `storage_root` first";
    throw unprocessable([{ pointer: "/source/uri", message, code: "empty-stage" }]);
  }
  await setStageState(transaction, stage.id, "registered");
  return stage.id;
}

/** The schema of the manifest of a plain artifact's version. */
function artifactSchemas(schemas: Schemas): Schemas {
  const model = schemas[manifestSchemaName("model-version")]?.properties ?? {};
  return {
    ArtifactVersionManifest: {
      title: "Artifact version",
      description: "A version of a plain artifact; other fields are stored as they are",
      type: "object",
      required: ["type", "name", "ml_repo"],
      properties: {
        type: { title: "Type", description: "Kind of manifest: `artifact-version`", const: "artifact-version" },
        ...pickProperties(model, "name", "ml_repo"),
      },
      examples: [{ type: "artifact-version", name: "click-logs", ml_repo: "ranking" }],
    },
  };
}

/** The manifest of a plain artifact's version when its name and repo are valid; other fields are not checked. */
function requireValidArtifact(manifest: JsonObject): JsonObject {
  const faults = forms.flatMap(({ field, form, says }): readonly ErrorDetail[] => {
    const value = manifest[field];
    const pointer = `/${field}`;
    if (value === undefined || value === null) return [{ pointer, message: "is required", code: "required" }];
    return typeof value === "string" && form.test(value) ? [] : [{ pointer, message: `must be ${says}`, code: "form" }];
  });
  if (faults.length > 0) throw unprocessable(faults);
  return manifest;
}
