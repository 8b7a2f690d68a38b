import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/contract/json.ts";
import { manifestReferences } from "../../src/core/manifest-references.ts";
import { kindOf } from "../../src/kinds/index.ts";
import { secretsOf } from "../../src/model/references.ts";
import { schemaFields } from "../../src/schema/schema-node.ts";
import { manifestTypes, schemaFor } from "../../src/schema/schemas.ts";

/** Names of fields that look as if they named a resource of a managed kind, or a secret. */
const LOOKS_LIKE_REFERENCE =
  /(?:_fqn|_ref|_subject|^subject|^team|_team|^ml_repo)$|(?:^|_)(?:cluster|workspace|volume|virtual_account|team|model_version|prompt|service|job|application)(?:_name|_id|_version)?$/;

/** What such fields name instead. */
const OTHERS: { readonly [name: string]: string } = {
  integration_fqn: "an integration: those are not managed",
  cluster_integration_fqn: "an integration",
  storage_integration_fqn: "an integration",
  workflow_storage_integration_fqn: "an integration",
  default_registry_fqn: "an integration",
  persistent_volume_name: "a volume of Kubernetes",
  root_subject: "a subject of NATS",
  sso_team: "a variant of the schema",
};

/** A manifest with a value at a path such as `mounts[].volume_fqn`. */
function manifestWith(path: string, value: Json): JsonObject {
  const wrap = (inner: Json, name: string): Json => {
    const bare = name.replace("[]", "");
    // What a permission names, and what a component is, depends on these.
    const beside = { type: "service", resource_type: "workspace" };
    return { ...beside, [bare]: name.endsWith("[]") ? [inner] : inner };
  };
  return path.split(".").reduceRight<Json>(wrap, value) as JsonObject;
}

function valueFor(name: string, example: unknown): Json {
  return name === "subject" ? "team:search" : typeof example === "string" ? example : "a:b:c";
}

function unreadIn(type: string): readonly string[] {
  return schemaFields(schemaFor(type) ?? {}).flatMap(({ path, node }) => {
    const name = path.slice(path.lastIndexOf(".") + 1);
    const isText = [node.type].flat().includes("string") && node.enum === undefined && node["x-known"] === undefined;
    if (!isText || !LOOKS_LIKE_REFERENCE.test(name) || Object.hasOwn(OTHERS, name)) return [];
    const manifest = manifestWith(path, valueFor(name, node.examples?.[0]));
    const pointer = `/${path.replaceAll("[]", "/0").replaceAll(".", "/")}`;
    const found = [...manifestReferences(manifest), ...secretsOf(manifest)];
    return found.some((one) => one.pointer === pointer) ? [] : [`${type}: ${path}`];
  });
}

test("every field that looks like a reference is one, in every schema", () => {
  expect(manifestTypes.length).toBeGreaterThan(10);
  expect(manifestTypes.flatMap(unreadIn)).toEqual([]);
});

test("every reference is to a kind that exists", () => {
  const manifest = {
    workspace_fqn: "c1:ws1",
    mounts: [{ type: "volume", volume_fqn: "c1:ws1:data" }],
    artifacts_download: { artifacts: [{ artifact_version_fqn: "model:t/r/m:3" }, { artifact_version_fqn: "x" }] },
    params: [
      { name: "repo", param_type: "ml_repo", default: "r1" },
      { name: "fqn", param_type: "ml_repo", default: "ml-repo:t/r2" },
      { name: "none", param_type: "ml_repo", default: "" },
      { name: "text", param_type: "string", default: "r3" },
    ],
    components: [{ mounts: [{ volume_fqn: "c1:ws1:more" }, { volume_fqn: "more" }], env: { volume_fqn: "c1:ws1:x" } }],
    flyte_entities: [{ template: { custom: { mounts: [{ volume_fqn: "tfy-volume://c1:ws1:flyte" }] } } }],
  };
  const references = manifestReferences(manifest);
  expect(references.map(({ identity, pointer }) => `${pointer} ${identity}`)).toEqual([
    "/workspace_fqn workspace/c1:ws1",
    "/mounts/0/volume_fqn volume/c1:ws1/data",
    "/artifacts_download/artifacts/0/artifact_version_fqn model-version/r/m@3",
    "/params/0/default ml-repo/r1",
    "/params/1/default ml-repo/r2",
    "/components/0/mounts/0/volume_fqn volume/c1:ws1/more",
    "/flyte_entities/0/template/custom/mounts/0/volume_fqn volume/c1:ws1/flyte",
  ]);
  for (const { identity } of references) expect(kindOf(identity.slice(0, identity.indexOf("/")))).toBeDefined();
});
