import { readFileSync, symlinkSync } from "node:fs";
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
    ["that are none", "a: 1\n", ["1:1 error not-a-patch"]],
    ["without a pattern", "patch: { replicas: 2 }\n", ["1:1 error missing-field"]],
    ["that are a text", "just text\n", ["1:1 error not-a-patch"]],
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

  test("that match what a manifest is called before the rename are told its new name", async () => {
    const renamed = { ...rules, rename: { clusters: { dev: "production" } } };
    const patch = { "patches/a.yaml": "match: service/dev:web/*\npatch: { replicas: 2 }\n" };
    const { diagnostics } = await loadFiles({ ...files, ...patch }, renamed);
    expect(diagnostics.map(({ detail }) => detail)).toEqual([
      "Did you mean `service/production:web/*`? Correct it, or remove the patch.",
    ]);
  });

  test("leave out empty documents, as manifests do", async () => {
    const text = `---\n# What differs.\n---\n${A}patch: { replicas: 2 }\n---\n---\n# The end.\n`;
    expect(await manifestAfter({ "patches/a.yaml": text })).toMatchObject({ replicas: 2 });
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
    const places = { patches: { file: "targets.yaml", line: 3, column: 5 } };
    const missing = await loadFiles(files, { ...rules, places });
    expect(brief(missing.diagnostics)).toEqual(["targets.yaml:3:5 error no-patches"]);
    expect(missing.manifests).toEqual([]);
    const broken = await loadFiles({ ...files, "patches/a.yaml": "patch: { replicas: 2 }\n" }, rules);
    expect(broken.manifests).toEqual([]);
  });

  test("are matched by every form of a pattern, in the order of files, and each of them once", async () => {
    const matches = [
      "**",
      "service/**",
      "service/dev:web/a",
      "*/dev:web/a",
      "service/dev:w*/a",
      "service/dev:web/*",
      "service/*/a",
      "workspace/dev:web",
    ];
    const texts = matches.map((match, at) => `match: "${match}"\npatch: { labels: { l${at}: x, last: "${at}" } }\n`);
    const value = await manifestAfter({ "patches/a.yaml": texts.slice(2).join("---\n") });
    expect(value).toMatchObject({ labels: { l2: "x", l3: "x", l4: "x", l5: "x", l6: "x", last: "6" } });
    const { diagnostics } = await loadFiles({ ...files, "patches/a.yaml": texts.slice(0, 1).join("") }, rules);
    expect(brief(diagnostics).filter((one) => one.includes("matches-nothing"))).toEqual([]);
  });

  const PATCH = `${A}patch: { replicas: 2 }\n`;

  test.each<[string, string | Uint8Array, string]>([
    ["larger than a file may be", `${PATCH}#${"x".repeat(16 * 1024 * 1024)}\n`, "too-large"],
    ["with more documents than a file may have", `${PATCH}---\n`.repeat(201), "too-many-documents"],
    ["with aliases that multiply", `${A}patch: { env: ${bomb()} }\n`, "too-many-nodes too-large"],
    ["nested without end", `${A}patch: ${"[".repeat(5000)}\n`, "too-deep"],
    ["that is no text", Uint8Array.of(0xff, 0xfe, 0x00, 0x01), "encoding"],
  ])("in a file %s refuse what they may match, at the file", async (_, text, code) => {
    const { diagnostics, manifests } = await loadFiles(
      { ...files, "patches/a.yaml": text, "patches/b.yaml": PATCH },
      rules,
    );
    expect(
      diagnostics
        .filter(({ file }) => file === "patches/a.yaml")
        .map((one) => one.code)
        .join(" "),
    ).toBe(code);
    expect(manifests.map(({ identity }) => identity)).not.toContain("service/dev:web/a");
  });

  test("in a file that is a link refuse every manifest, and the link is not followed", async () => {
    const folder = await folderOf({ ...files, "patches/b.yaml": PATCH, "elsewhere/a.txt": PATCH });
    symlinkSync("../elsewhere/a.txt", join(folder, "patches/a.yaml"));
    const { diagnostics, manifests } = await loadRevision(await read(folder), rules);
    expect(brief(diagnostics)).toEqual(["patches/a.yaml:null:null error not-a-regular-file"]);
    expect(manifests).toEqual([]);
  });

  test("may have a byte order mark and the line ends of Windows, and stand where they stand", async () => {
    const text = "\uFEFFmatch: service/dev:web/a\r\npatch:\r\n  replicas: many\r\n";
    const { diagnostics } = await loadFiles({ ...files, "patches/a.yaml": text }, rules);
    expect(brief(diagnostics)).toEqual(["patches/a.yaml:3:13 error wrong-type"]);
    expect(await manifestAfter({ "patches/a.yaml": text.replace("many", "4") })).toMatchObject({ replicas: 4 });
  });

  test("in a folder that is named otherwise, also only by case, are missed, and the folder is named", async () => {
    const { diagnostics, manifests } = await loadFiles({ ...files, "Patches/a.yaml": PATCH }, rules);
    const [missing] = diagnostics.filter(({ code }) => code === "no-patches");
    expect(missing?.detail).toMatch(/^Did you mean `Patches`\? /);
    expect(manifests).toEqual([]);
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

// Each alias doubles what the one before it means.
function bomb(): string {
  const levels = Array.from({ length: 30 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]`);
  return `{ a0: &a0 [x], ${levels.join(", ")} }`;
}
