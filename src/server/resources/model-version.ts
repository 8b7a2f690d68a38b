import type { ModelVersion } from "../../contract/generated/resources.ts";
import { isObject, text } from "../../contract/json.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { refTo } from "../openapi/json-schema.ts";
import { VERSION_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ResourceDefinition } from "../resource.ts";
import { seedVersions } from "../seed/seed-rule.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";
import { modelSnippet } from "./artifact/code-snippets.ts";
import { registerVersion, type VersionedKind } from "./artifact/register-version.ts";
import { copyVersion } from "./artifact/snapshot.ts";
import { listVersions, type VersionBase } from "./artifact/version-rows.ts";
import { repoScope } from "./ml-repo.ts";

/** Versions of models. */
const modelKind: VersionedKind<ModelVersion> = { type: "model-version", make: makeModel };

const putModelVersion: Handler<"putModelVersion"> = async (call, context) => ({
  data: await registerVersion(modelKind, "putModelVersion", call, context),
});

const postModelVersion: Handler<"postModelVersion"> = async (call, context) => {
  await registerVersion(modelKind, "postModelVersion", call, context);
  return undefined;
};

// `include_internal_metadata` is accepted and has no effect: this control plane has no such metadata.
const listModelVersions: Handler<"listModelVersions"> = ({ principal, query, page }, { store }) =>
  listVersions<ModelVersion>(store.read, principal, modelKind.type, { ...query, artifact_id: query.model_id }, page);

/** The operations on model versions: 5, 13 and E2. */
export const resource: ResourceDefinition = {
  section: { name: "Model versions", description: "Versions of models." },
  operations: [
    defineOperation("putModelVersion", putModelVersion, {
      scope: ({ manifest }) => repoScope(text(manifest.ml_repo)),
      description: VERSION_DESCRIPTION,
      replySchema: "ModelVersion",
      manifest: { $ref: refTo("ModelVersionManifest") },
    }),
    defineOperation("postModelVersion", postModelVersion, {
      scope: ({ manifest }) => repoScope(text(manifest.ml_repo)),
      description: `Registers a version and returns an empty object.\n\n${VERSION_DESCRIPTION}\n\nA manifest whose \`source\` is \`{type: platform, uri: <storage_root>}\` completes that stage; the version has the staged id.`,
      manifest: { $ref: refTo("ModelVersionManifest") },
    }),
    defineOperation("listModelVersions", listModelVersions, {
      description: "Newest first.",
      replySchema: "ModelVersion",
      parameters: {
        tag: { description: "Only those with this tag", example: "stable" },
        model_id: { description: "Only versions of this model", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
        ml_repo_id: { description: "Only those in this ml repo", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" },
        version: { description: "Only this version", example: 3 },
        run_ids: { description: "Only versions that these runs created", example: ["run-1"] },
        run_steps: { description: "Only versions that were created at these steps", example: [1] },
        include_internal_metadata: {
          description: "Whether internal metadata of the platform is included",
          example: false,
        },
      },
    }),
  ],
  seeds: { "model-version": seedVersions("putModelVersion", "listModelVersions", "model") },
  snapshot: [
    snapshotPart("model-version", {
      rows: "modelVersions",
      operation: "putModelVersion",
      after: ["ml-repo"],
      copy: copyVersion(modelKind),
    }),
  ],
};

function makeModel(base: VersionBase, artifactId: string): ModelVersion {
  const { framework, source } = base.manifest;
  return {
    ...base,
    model_id: artifactId,
    usage_code_snippet: modelSnippet(base.fqn, base.manifest),
    // No operation records metrics.
    metrics: [],
    // A deployable model has files, and a framework that loads them.
    deployable: isObject(framework) && isObject(source) && text(source.uri) !== undefined,
  };
}
