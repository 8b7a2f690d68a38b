import { expect, test } from "vitest";
import type { ImportReport } from "../../src/contract/generated/output.ts";
import { isObject, type Json, type JsonObject } from "../../src/contract/json.ts";
import { secretReferences } from "../../src/contract/secret-references.ts";
import { manifestTypes } from "../../src/schema/schemas.ts";
import { type CorpusWorld, platformManifests } from "../conformance/platform-corpus.ts";
import { planOf, reportOf, validationOf } from "../support/json-output.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

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

/** The name of the nth manifest of a type, and what else has to be its own. */
function own(manifest: JsonObject, type: string, index: number): JsonObject {
  const named = { ...manifest, name: `${type.replaceAll("_", "-")}-${index}` };
  if (!isObject(manifest.secret_store_config)) return named;
  return { ...named, secret_store_config: { integration_fqn: "builtin", secret_path: `tokens/account-${index}` } };
}

const isUpload = ({ source }: JsonObject): boolean => isObject(source) && source.type === "local";

const corpus: ReadonlyMap<string, readonly JsonObject[]> = new Map(
  manifestTypes.map((type) => [type, platformManifests(type, world).map((one, index) => own(one, type, index))]),
);

/** Files of a hundred manifests; JSON is YAML too. */
function filesOf(pick: (manifest: JsonObject) => boolean): { readonly [file: string]: string } {
  const files = [...corpus].flatMap(([type, all]) => {
    const picked = all.filter(pick);
    const count = Math.ceil(picked.length / 100);
    return Array.from({ length: count }, (_, at) => [
      `${type}-${at}.yaml`,
      text(picked.slice(at * 100, at * 100 + 100)),
    ]);
  });
  const config = "defaults: { workspace_fqn: corpus:apps }\n";
  return { ...Object.fromEntries(files), "base.yaml": text(base), "holdfast.yaml": config };
}

const text = (manifests: readonly Json[]): string => manifests.map((one) => `${JSON.stringify(one)}\n`).join("---\n");

test("every field, variant and optional of the platform's field list is valid without a warning", async () => {
  const all = [...corpus.values()].flat();
  expect(all.length).toBeGreaterThan(1000);
  const source = await sourceOf(filesOf(() => true));
  const ended = await source.runHere(["validate", "-o", "json"]);
  expect(validationOf(ended).diagnostics).toEqual([]);
  expect(ended.code).toBe(0);
  expect(validationOf(ended).summary).toMatchObject({ manifests: all.length + base.length, errors: 0, warnings: 0 });
});

test("all that can be written is applied, and a second apply writes nothing", async () => {
  const server = await serve();
  const secrets = new Set(["holdfast:platform:db-password"]);
  for (const one of [...corpus.values()].flat()) for (const { fqn } of secretReferences(one)) secrets.add(fqn);
  for (const [group, fqns] of Map.groupBy(secrets, (fqn) => fqn.split(":")[1] ?? "")) {
    const keys = fqns.map((fqn) => ({ key: fqn.split(":")[2], value: "example-only" }));
    await server.call("POST", "/api/svc/v1/secret-groups", { name: group, integrationId: "builtin", secrets: keys });
  }
  await server.call("POST", "/api/svc/v1/secret-groups", { name: "tokens", integrationId: "builtin", secrets: [] });
  const source = await sourceOf(
    filesOf((one) => !isUpload(one)),
    server,
  );
  const applied = await source.runHere(["apply", "--yes", "--sink", "file", "-o", "json"]);
  const bad = reportOf(applied).outcomes.filter(({ result }) => result !== "created");
  expect(bad).toEqual([]);
  expect(applied.code).toBe(0);
  const before = server.effects().length;
  const again = await source.runHere(["apply", "--yes", "--sink", "file", "-o", "json"]);
  expect(reportOf(again).summary).toMatchObject({ created: 0, updated: 0, failed: 0, blocked: 0 });
  expect(server.effects()).toHaveLength(before);

  // The same platform, imported where nothing is declared: a plan of the new files finds nothing to do.
  const other = await sourceOf({}, server);
  const imported = await other.runHere(["import", "--into", "live", "-o", "json"]);
  const { summary, resources, unread, undeclared }: ImportReport = JSON.parse(imported.stdout);
  expect([imported.code, resources.filter(({ result }) => result !== "written"), unread, undeclared]).toEqual([
    0,
    [],
    [],
    [],
  ]);
  const plan = planOf(await other.runHere(["plan", "-o", "json"]));
  expect(plan).toMatchObject({ steps: [], complete: true, summary: { keep: summary.written, unrecorded: 0 } });
  expect(planOf(await other.runHere(["plan", "--show", "unmanaged", "-o", "json"])).unmanaged).toEqual([]);
  expect((await other.runHere(["import", "--into", "live"])).stdout).toContain("Import: nothing written");
  expect(server.effects()).toHaveLength(before);
});
