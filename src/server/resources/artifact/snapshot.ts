import type { Transaction } from "kysely";
import type { ModelVersion, PromptVersion } from "../../../contract/generated/resources.ts";
import { type Json, type JsonObject, text } from "../../../contract/json.ts";
import { type Context, timestamp } from "../../context.ts";
import { markChanged } from "../../database/digests.ts";
import type { Tables } from "../../database/tables.ts";
import { readObjects, readRowFields, readVersionNumber } from "../../snapshot/rows.ts";
import { type CopyOutcome, notCopied } from "../../snapshot/snapshot-part.ts";
import { findRepo } from "../ml-repo.ts";
import { insertVersion, type VersionedKind } from "./register-version.ts";
import { findArtifact, insertArtifact, versionFqn, versionIdentity } from "./rows.ts";
import { findVersion } from "./version-rows.ts";

/** Copies versions of models or prompts, each under its own number. */
export function copyVersion<Version extends ModelVersion | PromptVersion>(kind: VersionedKind<Version>) {
  return async (transaction: Transaction<Tables>, row: JsonObject, context: Context): Promise<CopyOutcome> => {
    const { id, manifest, subject, createdAt, updatedAt } = readRowFields(row, timestamp(context));
    const [name, repoName] = [text(manifest.name), text(manifest.ml_repo)];
    const version = readVersionNumber(manifest.version) ?? readVersionNumber(Number(text(row.fqn)?.split(":").at(-1)));
    if (!name || !repoName || version === null) return notCopied("its manifest has no name, ml repo or version");
    const repo = await findRepo(transaction, repoName);
    if (repo === null) return notCopied("the snapshot lacks its ml repo");
    const place = { type: kind.type, repo: repoName, name };
    const artifact =
      (await findArtifact(transaction, repo.id, place)) ??
      (await insertArtifact(transaction, repo, place, subject, {
        id: text(row.model_id ?? row.prompt_id) || context.newId(),
        now: createdAt,
      }));
    if ((await findVersion(transaction, artifact.id, version)) !== null) return { result: "exists" };
    const made = kind.make(
      {
        id: id ?? context.newId(),
        fqn: versionFqn(place, version),
        ml_repo_id: repo.id,
        created_by_subject: subject,
        created_at: createdAt,
        updated_at: updatedAt,
        manifest: { ...manifest, version },
        tags: textsOf(row.tags),
      },
      artifact.id,
    );
    const resource = "metrics" in made ? { ...made, metrics: metricsOf(row.metrics) } : made;
    await insertVersion(transaction, repo, artifact, { ...place, version }, resource);
    const identity = versionIdentity(place, version);
    await markChanged(transaction, identity, context);
    return { result: "copied", resource: identity };
  };
}

function textsOf(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: Json) => typeof item === "string") : [];
}

function metricsOf(value: Json | undefined): ModelVersion["metrics"] {
  return readObjects(value).flatMap(({ key, value: measured, timestamp: at, step }) =>
    typeof key === "string" && typeof measured === "number"
      ? [
          {
            key,
            value: measured,
            timestamp: typeof at === "number" ? at : 0,
            step: typeof step === "number" ? step : 0,
          },
        ]
      : [],
  );
}
