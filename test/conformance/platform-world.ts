import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json, type JsonObject } from "../../src/contract/json.ts";
import { secretReferences } from "../../src/contract/secret-references.ts";
import { fullManifest } from "../../src/schema/sample-manifest.ts";
import { manifestTypes } from "../../src/schema/schemas.ts";
import type { Server } from "../support/server.ts";
import { examples } from "../support/source.ts";
import { type CorpusWorld, platformManifests } from "./platform-corpus.ts";

const grant = { resource_fqn: "corpus:apps", resource_type: "workspace", role_id: "workspace-viewer" };

/** What the manifests refer to, and values that a rule asks for. */
const world: CorpusWorld = {
  name: "named below",
  components: [
    { type: "service", name: "one", image: { type: "image", image_uri: "registry.example.com/one:1" }, ports: [] },
    {
      type: "helm",
      name: "two",
      source: { type: "oci-repo", oci_chart_url: "oci://example.com/two", version: "1.0.0" },
    },
  ],
  cluster_fqn: "corpus",
  workspace_fqn: "corpus:apps",
  ml_repo: "corpus",
  permissions: [grant],
  "VirtualAccountOwnedBy.team": "everyone",
  "SecretGroupManifest.integration_fqn": "builtin",
  "**.subject": "user:ada@example.com",
  expiration_date: "2099-12-31",
  "**.volume_fqn": "corpus:apps:volume-0",
  "**.artifact_version_fqn": "artifact:holdfast/corpus/weights:1",
  "**.secret_fqn": "holdfast:platform:db-password",
  "**.password_secret_fqn": "holdfast:platform:db-password",
  "LoadBalanceTarget.weight": 100,
  "RefusalContentPart.type": "refusal",
  version: 1,
};

const base: readonly JsonObject[] = [
  { type: "cluster", name: "corpus", cluster_type: "generic" },
  { type: "workspace", name: "apps", cluster_fqn: "corpus" },
  { type: "ml-repo", name: "corpus" },
];

/** The manifest of a type with the name of its number, and what else has to be its own. */
export function own(manifest: JsonObject, type: string, index: number): JsonObject {
  const named = { ...manifest, name: `${type.replaceAll("_", "-")}-${index}` };
  if (!isObject(manifest.secret_store_config)) return named;
  return { ...named, secret_store_config: { integration_fqn: "builtin", secret_path: `tokens/account-${index}` } };
}

/** The manifests of each type: those of the field list of the platform, or one with every field where it has none. */
export const variantsByType: ReadonlyMap<string, readonly JsonObject[]> = new Map(
  manifestTypes.map((type) => {
    const variants = platformManifests(type, world);
    return [type, variants.length > 0 ? variants : [fullManifest(type)]];
  }),
);

/** Whether a manifest names a local folder, which only the platform's own program uploads. */
export const isUpload = ({ source }: JsonObject): boolean => isObject(source) && source.type === "local";

/** How many manifests `corpusFiles` declares besides those that it is given. */
export const baseCount: number = base.length;

/** A source of manifests and what they are in, in files of a hundred; JSON is YAML too. */
export function corpusFiles(manifests: readonly JsonObject[]): { readonly [file: string]: string } {
  const files = [...Map.groupBy(manifests, ({ type }) => type)].flatMap(([type, all]) => {
    const count = Math.ceil(all.length / 100);
    return Array.from({ length: count }, (_, at) => [`${type}-${at}.yaml`, text(all.slice(at * 100, at * 100 + 100))]);
  });
  const config = "defaults: { workspace_fqn: corpus:apps }\n";
  return { ...Object.fromEntries(files), "base.yaml": text(base), "holdfast.yaml": config };
}

const text = (manifests: readonly Json[]): string => manifests.map((one) => `${JSON.stringify(one)}\n`).join("---\n");

type SecretGroup = { readonly secrets: readonly { readonly key: string }[] };

/** Makes the secrets that manifests and the examples refer to. */
export async function makeSecrets({ call }: Server, manifests: readonly JsonObject[]): Promise<void> {
  const group: SecretGroup = JSON.parse(readFileSync(join(examples, "secret-group.json"), "utf8"));
  const secrets = new Set(group.secrets.map(({ key }) => `holdfast:platform:${key}`));
  for (const one of manifests) for (const { fqn } of secretReferences(one)) secrets.add(fqn);
  for (const [name, fqns] of Map.groupBy(secrets, (fqn) => fqn.split(":")[1] ?? "")) {
    const keys = fqns.map((fqn) => ({ key: fqn.split(":")[2], value: "example-only" }));
    await call("POST", "/api/svc/v1/secret-groups", { name, integrationId: "builtin", secrets: keys });
  }
  await call("POST", "/api/svc/v1/secret-groups", { name: "tokens", integrationId: "builtin", secrets: [] });
}
