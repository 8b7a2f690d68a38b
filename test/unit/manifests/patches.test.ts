import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { systemClock } from "../../../src/clock/system.ts";
import type { Json, JsonObject } from "../../../src/contract/json.ts";
import { escapePointer } from "../../../src/contract/json-pointer.ts";
import type { LoadRules } from "../../../src/manifests/load-manifests.ts";
import { readManifests } from "../../../src/manifests/read-manifests.ts";
import { ExactProcess } from "../../../src/yaml/read-yaml.ts";
import { foundations, service } from "../../support/manifests.ts";
import { brief, type Files, folderOf, loadFiles, loadRevision, read, signal } from "../source/source.ts";

const rules: LoadRules = { patches: "patches" };
const files: Files = { ...foundations, "a.yaml": service("a", "replicas: 1\nenv: { A: one, B: two }\n") };
const A = "match: service/dev:web/a\n";

async function manifestAfter(patches: Files, more: LoadRules = rules): Promise<Json | undefined> {
  const { manifests, diagnostics } = await loadFiles({ ...files, ...patches }, more);
  expect(diagnostics).toEqual([]);
  const parsed = await readManifests(manifests, { clock: systemClock, signal });
  return parsed.find(({ identity }) => identity.endsWith("/a"))?.value;
}

describe("patches", () => {
  test("apply in the order of files and documents, after the rename", async () => {
    const value = await manifestAfter(
      {
        "patches/b.yaml": "match: service/prod:web/a\npatch: { replicas: 3 }\n",
        "patches/a.yaml": "match: service/prod:web/*\npatch: { replicas: 2, env: { A: null, C: three } }\n",
      },
      { ...rules, rename: { clusters: { dev: "prod" } } },
    );
    expect(value).toMatchObject({ workspace_fqn: "prod:web", replicas: 3, env: { B: "two", C: "three" } });
  });

  test.each<[string, string, readonly string[]]>([
    ["that match nothing", "match: service/dev:web/b\npatch: { replicas: 2 }\n", ["1:8 error matches-nothing"]],
    ["with an unknown key", `${A}patch: { replicas: 2 }\nmore: 1\n`, ["3:1 error unknown-field"]],
    ["that are none", "a: 1\n", ["1:1 error missing-field", "1:1 error missing-field", "1:1 error unknown-field"]],
    ["of a wrong type", `${A}patch:\n  replicas: many\n`, ["3:13 error wrong-type"]],
    ["with a field that no schema has", `${A}patch:\n  replica: 2\n`, ["3:3 error unknown-field"]],
    ["that remove what is needed", `${A}patch:\n  image: null\n`, ["3:3 error missing-field"]],
    ["of the identity", `${A}patch:\n  name: b\n`, ["3:3 error patched-identity"]],
    ["of the type", `${A}patch:\n  type: job\n`, ["3:3 error patched-identity"]],
    ["that remove nothing", `${A}patch:\n  ports:\n    - port: 1\n      $delete: true\n`, ["5:7 error patch"]],
    ["that a text has broken", `${A}patch: [\n`, ["2:8 error syntax"]],
  ])("%s are errors at their own place", async (_, text, expected) => {
    const { diagnostics, invalid } = await loadFiles({ ...files, "patches/a.yaml": text }, rules);
    expect(brief(diagnostics)).toEqual(expected.map((each) => `patches/a.yaml:${each}`));
    const refuses = !expected.includes("1:8 error matches-nothing");
    expect(invalid.has("service/dev:web/a")).toBe(refuses);
  });

  test("that break a rule between fields are told where they stand, with the manifest", async () => {
    const manifest = service("a", "resources:\n  cpu_request: 0.5\n  cpu_limit: 1\n");
    const patch = `${A}patch:\n  resources:\n    cpu_limit: 0.1\n`;
    const { diagnostics } = await loadFiles({ ...foundations, "a.yaml": manifest, "patches/a.yaml": patch }, rules);
    expect(diagnostics.map(({ file }) => file)).toEqual(["patches/a.yaml"]);
    expect(diagnostics[0]?.related).toMatchObject([{ file: "a.yaml", line: 1 }]);
  });

  test("leave the errors of a manifest at their own place", async () => {
    const manifest = service("a", "replicas: many\n");
    const patch = `${A}patch: { env: { A: one } }\n`;
    const { diagnostics } = await loadFiles({ ...foundations, "a.yaml": manifest, "patches/a.yaml": patch }, rules);
    expect(brief(diagnostics)).toMatchObject([expect.stringMatching(/^a\.yaml:.* wrong-type$/)]);
  });

  test("may complete a manifest that is invalid without them", async () => {
    const manifest = service("a").replace(/image:\n.*\n.*\n/, "");
    const patch = `${A}patch: { image: { type: image, image_uri: "r/a:1" } }\n`;
    const { diagnostics } = await loadFiles({ ...foundations, "a.yaml": manifest, "patches/a.yaml": patch }, rules);
    expect(diagnostics).toEqual([]);
  });

  test("with a credential are refused, and the value is not shown", async () => {
    const secret = `ghp_${"a1B2".repeat(9)}`;
    const patch = `${A}patch:\n  env:\n    A: ${secret}\n`;
    const { diagnostics } = await loadFiles({ ...files, "patches/a.yaml": patch }, rules);
    expect(brief(diagnostics)).toEqual(["patches/a.yaml:4:8 error literal-credential"]);
    expect(JSON.stringify(diagnostics)).not.toContain(secret);
    const allowed = await loadFiles(
      { ...files, "patches/a.yaml": patch },
      { ...rules, allowLiteralSecrets: ["patches/**"] },
    );
    expect(allowed.diagnostics).toEqual([]);
  });

  test("that are missing, or do not say what they match, refuse every manifest", async () => {
    const missing = await loadFiles(files, rules);
    expect(missing.diagnostics.map(({ code }) => code)).toEqual(["no-patches"]);
    expect(missing.manifests).toEqual([]);
    const broken = await loadFiles({ ...files, "patches/a.yaml": "patch: { replicas: 2 }\n" }, rules);
    expect(broken.manifests).toEqual([]);
  });

  test("a rename that maps nothing is a warning, and two manifests of one identity are an error at both", async () => {
    const other = service("a").replace("dev:web", "dev:other");
    const all = { ...files, "b.yaml": other, "w.yaml": "type: workspace\nname: other\ncluster_fqn: dev\n" };
    const rename = { clusters: { zzz: "prod" }, workspaces: { "dev:other": "dev:web" } };
    const { diagnostics } = await loadFiles(all, { rename });
    const codes = diagnostics.map(({ file, code, severity }) => `${file} ${severity} ${code}`);
    expect(codes).toEqual([
      "null warning renames-nothing",
      "a.yaml error duplicate-identity",
      "b.yaml error duplicate-identity",
      "platform/workspace.yaml error duplicate-identity",
      "w.yaml error duplicate-identity",
    ]);
  });
});

const value = fc.nat({ max: 999_999 }).map((n) => `v${n}`);
const env = fc.dictionary(fc.constantFrom("A", "B", "C", "x/y"), value, { minKeys: 1 });
const port = fc.record({ port: fc.constantFrom(8080, 8081, 8082), app_protocol: fc.constantFrom("http", "grpc") });
const ports = fc.uniqueArray(port, { selector: (one) => one.port, minLength: 1 });
const patch = fc.record(
  {
    env: fc.oneof(env, fc.dictionary(fc.constantFrom("A", "B"), fc.constant(null))),
    labels: env,
    ports: fc.oneof(
      ports,
      ports.map((list) => ({ $replace: list })),
    ),
    image: fc.record({ image_uri: value }),
  },
  { requiredKeys: [] },
);

test("the place of each value of a patched manifest is a line that holds it", async () => {
  await using exact = new ExactProcess();
  await fc.assert(
    fc.asyncProperty(
      env,
      ports,
      fc.array(fc.array(patch, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 }),
      async (own, list, all) => {
        const manifest = `${service("a").split("ports:")[0]}${stringify({ env: own, ports: list })}`;
        const patches = all.map((documents, at) => [
          `patches/${at}.yaml`,
          documents.map((one) => stringify({ match: "service/dev:web/a", patch: one })).join("---\n"),
        ]);
        const folder = await folderOf({ ...foundations, "a.yaml": manifest, ...Object.fromEntries(patches) });
        const { manifests } = await loadRevision(await read(folder), { ...rules, unknownFields: "warn" });
        const [found] = await readManifests(
          manifests.filter(({ identity }) => identity === "service/dev:web/a"),
          { clock: systemClock, signal },
        );
        for (const [pointer, leaf] of leavesOf(found?.value ?? {}, "")) {
          const place = await found?.locate(pointer, { exact, signal });
          const line = readFileSync(join(folder, place?.file ?? ""), "utf8").split("\n")[(place?.line ?? 0) - 1] ?? "";
          expect(line.slice((place?.column ?? 1) - 1).replaceAll('"', "")).toBe(String(leaf));
        }
      },
    ),
    { numRuns: 25 },
  );
});

function leavesOf(of: JsonObject | Json, pointer: string): readonly (readonly [string, Json])[] {
  if (typeof of !== "object" || of === null) return [[pointer, of]];
  return Object.entries(of).flatMap(([key, field]) => leavesOf(field, `${pointer}/${escapePointer(key)}`));
}
