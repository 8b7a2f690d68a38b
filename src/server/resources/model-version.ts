import { isObject, text } from "../../contract/json.ts";
import type { ModelVersion } from "../../contract/resources.ts";
import type { Handler } from "../http/call.ts";
import { type Served, serve } from "../http/serve.ts";
import { listVersions } from "./artifact/list-versions.ts";
import { register, type VersionedKind } from "./artifact/register.ts";
import { modelSnippet } from "./artifact/snippet.ts";
import type { VersionBase } from "./artifact/version-rows.ts";

/** Models, version by version. */
export const modelKind: VersionedKind<ModelVersion> = { type: "model-version", make: makeModel };

const putModelVersion: Handler<"putModelVersion"> = async (call, context) => ({
  data: await register(modelKind, "putModelVersion", call, context),
});

const postModelVersion: Handler<"postModelVersion"> = async (call, context) => {
  await register(modelKind, "postModelVersion", call, context);
  return undefined;
};

// `include_internal_metadata` is taken and changes nothing: this control plane keeps no such metadata.
const listModelVersions: Handler<"listModelVersions"> = ({ principal, query, page }, { store }) =>
  listVersions<ModelVersion>(store.read, principal, modelKind.type, { ...query, artifact_id: query.model_id }, page);

/** The operations on model versions: 5, 13 and E2. */
export const modelVersions: readonly Served[] = [
  serve("putModelVersion", putModelVersion),
  serve("postModelVersion", postModelVersion),
  serve("listModelVersions", listModelVersions),
];

function makeModel(base: VersionBase, artifactId: string): ModelVersion {
  const { framework, source } = base.manifest;
  return {
    ...base,
    model_id: artifactId,
    usage_code_snippet: modelSnippet(base.fqn, base.manifest),
    // No operation records metrics.
    metrics: [],
    // What can be served has files somewhere, and says how they are to be loaded.
    deployable: isObject(framework) && isObject(source) && text(source.uri) !== undefined,
  };
}
