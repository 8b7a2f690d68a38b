import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ImportReport } from "../../src/contract/generated/output.ts";
import { controlPlaneVariants } from "../support/control-plane-variants.ts";
import { git } from "../support/git.ts";
import { everyKind, foundations, service } from "../support/manifests.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const API = "service/dev:web/api";

/** A service with comments, quotes and an order of its own. */
const commented = (name: string, replicas = 2): string => `# The ${name} of the team.
name: ${name}   # what it is called
type: 'service'

workspace_fqn: "dev:web"
replicas:   ${replicas}   # raised for the launch
image: { type: image, image_uri: "registry.example.com/${name}:1.0.0" }
env:
  # where it runs
  REGION: "eu"
  MODE: fast # quick
ports:
  - port: 8080 # http
    expose: false
`;

const served = (name: string, change: object) => ({
  type: "service",
  name,
  workspace_fqn: "dev:web",
  replicas: 2,
  image: { type: "image", image_uri: `registry.example.com/${name}:1.0.0` },
  env: { REGION: "eu", MODE: "fast" },
  ports: [{ port: 8080, expose: false }],
  ...change,
});

describe.each(controlPlaneVariants)("import --update on a $name control plane", (plane) => {
  test("takes drift into git, and touches nothing else of the file", async () => {
    const server = await plane.serve();
    const files = { ...foundations, "all.yaml": `${commented("api")}---\n# The other.\n${service("other")}` };
    const source = await sourceOf(files, server);
    expect((await source.runHere(["apply", "--yes"])).code).toBe(0);
    const manifest = served("api", {
      replicas: 5,
      env: { MODE: "slow", NEW: "1" },
      ports: [
        { port: 8080, expose: false },
        { port: 9090, expose: false },
      ],
    });
    await server.call("PUT", "/api/svc/v1/apps", { manifest });
    expect((await source.runHere(["drift"])).code).toBe(2);
    const before = server.effects();
    const ended = await source.runHere(["import", "--update", API]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toContain(`~ ${API}  all.yaml\n`);
    expect(ended.stdout).toContain("replicas                  2 → 5");
    expect(ended.stdout).toContain("Import: 1 updated\nNext: holdfast plan\n");
    expect(readFileSync(join(source.folder, "all.yaml"), "utf8")).toBe(
      files["all.yaml"]
        .replace("replicas:   2   #", "replicas:   5   #")
        .replace('  REGION: "eu"\n', "")
        .replace("MODE: fast # quick\n", 'MODE: slow # quick\n  NEW: "1"\n')
        .replace("    expose: false\n", "    expose: false\n  - port: 9090\n    expose: false\n"),
    );
    expect(server.effects()).toEqual(before);
    expect((await source.runHere(["plan"])).stdout).toBe("Plan: nothing to do, 5 unchanged\n");
    expect((await source.runHere(["import", "--update", "all.yaml"])).stdout).toBe(
      "Import: nothing written, 2 unchanged\n",
    );
  });
});

test("what a first plan would overwrite is taken over for all that is declared", async () => {
  const server = await serve();
  const origin = await sourceOf(everyKind, server);
  expect((await origin.runHere(["apply", "--yes", "--sink", "file"])).code).toBe(0);
  const source = await sourceOf(
    {
      ...everyKind,
      "services/api.yaml": service("api", "replicas: 7 # more\n"),
      "team.json": '{\n  "type": "team",\n  "name": "ml",\n  "members": ["eve@example.com"]\n}\n',
      "registry/prompt.yaml": (everyKind["registry/prompt.yaml"] ?? "").replace("Be kind.", "Be quick."),
    },
    server,
  );
  await source.remove("team.yaml");
  const ended = await source.runHere(["import", "--update", "-o", "json"]);
  expect([ended.code, faultsOf("import", ended.stdout)]).toEqual([0, []]);
  const report: ImportReport = JSON.parse(ended.stdout);
  expect(report.summary).toEqual({ written: 0, updated: 3, unchanged: 5, differs: 0, skipped: 0 });
  expect(report.resources.find(({ identity }) => identity === API)).toMatchObject({
    file: "services/api.yaml",
    changes: [{ path: "/replicas", before: 7, after: 2, cause: "unrecorded" }],
  });
  expect(readFileSync(join(source.folder, "services/api.yaml"), "utf8")).toBe(service("api", "replicas: 2 # more\n"));
  expect(readFileSync(join(source.folder, "team.json"), "utf8")).toContain('"members": ["ada@example.com"]\n}');
  expect((await source.runHere(["plan"])).stdout).toBe("Plan: nothing to do, 8 unchanged\n");
});

test("a file that cannot be written is named, and keeps its text", async () => {
  const server = await serve();
  // No name beside it can be longer, so there is no place for its draft.
  const file = `${"a".repeat(240)}.yaml`;
  const source = await sourceOf({ ...foundations, [file]: commented("api") }, server);
  expect((await source.runHere(["apply", "--yes"])).code).toBe(0);
  await server.call("PUT", "/api/svc/v1/apps", { manifest: served("api", { replicas: 3 }) });
  const ended = await source.runHere(["import", "--update"]);
  expect([ended.code, ended.stderr.replaceAll(/\s+/g, " ")]).toEqual([
    3,
    expect.stringContaining(`${file} cannot be written (ENAMETOOLONG)`),
  ]);
  expect(readFileSync(join(source.folder, file), "utf8")).toBe(commented("api"));
});

test("200 commented files change in nothing but the fields that differ", async () => {
  const server = await serve();
  const names = Array.from({ length: 200 }, (_, nth) => `api-${nth}`);
  const files = Object.fromEntries(names.map((name) => [`services/${name}.yaml`, commented(name)]));
  const source = await sourceOf({ ...foundations, ...files }, server);
  expect((await source.runHere(["apply", "--yes"])).code).toBe(0);
  for (const [nth, name] of names.entries()) {
    await server.call("PUT", "/api/svc/v1/apps", { manifest: served(name, { replicas: 10 + nth }) });
  }
  const draft = "services/api-7.yaml.6f1c1b0e-3a52-4c55-9a0e-0c8a2f5d7e11";
  await source.write(draft, "# The api");
  expect((await source.runHere(["import", "--update", "services"])).stdout).toContain("Import: 200 updated\n");
  const found = names.map((name) => readFileSync(join(source.folder, `services/${name}.yaml`), "utf8"));
  expect(found).toEqual(names.map((name, nth) => commented(name, 10 + nth)));
  expect(existsSync(join(source.folder, draft))).toBe(false);
  expect((await source.runHere(["plan"])).stdout).toBe("Plan: nothing to do, 203 unchanged\n");
});

test("uncommitted changes, secrets, anchors and what is not live are left alone", async () => {
  const server = await serve();
  const anchored = service("anchored", "replicas: &n 2\nlabels: { a: b }\n").replace(
    "port: 8080",
    "port: 8080 # a\n    expose: false",
  );
  const source = await sourceOf({ ...foundations, "api.yaml": commented("api"), "b.yaml": anchored }, server);
  expect((await source.runHere(["apply", "--yes"])).code).toBe(0);
  const canary = "canary-live-value";
  await server.call("PUT", "/api/svc/v1/apps", { manifest: served("api", { replicas: 3 }) });
  await source.write("new.yaml", service("new"));
  await git(source.folder, "init", "-q");
  await git(source.folder, "add", ".");
  await git(source.folder, "commit", "-q", "-m", "one");
  await source.write("api.yaml", `${commented("api")}# uncommitted\n`);
  const refused = await source.runHere(["import", "--update", API]);
  expect(refused).toMatchObject({
    code: 5,
    stdout: "",
    stderr: expect.stringContaining("uncommitted changes: api.yaml"),
  });
  expect(readFileSync(join(source.folder, "api.yaml"), "utf8")).toBe(`${commented("api")}# uncommitted\n`);
  expect((await source.runHere(["import", "--update", API, "--force"])).stdout).toContain("1 updated");
  expect(readFileSync(join(source.folder, "api.yaml"), "utf8")).toBe(`${commented("api", 3)}# uncommitted\n`);
  await server.call("PUT", "/api/svc/v1/apps", { manifest: served("api", { env: { DB_PASSWORD: canary } }) });
  await server.call("PUT", "/api/svc/v1/apps", {
    manifest: {
      ...served("anchored", { replicas: 4, env: {}, ports: [{ port: 8080, expose: false }] }),
      labels: { a: "b" },
    },
  });
  const left = await source.runHere(["import", "--update", "--force"]);
  expect(left.code).toBe(1);
  const shown = left.stdout.replaceAll(/\s+/g, " ");
  expect(shown).toContain(
    `skipped ${API}: it holds a secret in plain text (/env/DB_PASSWORD: put it into a secret, and refer to it)`,
  );
  // All other fields are taken over.
  expect(shown).toContain("replicas 3 → 2");
  expect(readFileSync(join(source.folder, "api.yaml"), "utf8")).toContain("replicas:   2   # raised");
  expect(readFileSync(join(source.folder, "api.yaml"), "utf8")).not.toContain("REGION");
  expect(readFileSync(join(source.folder, "api.yaml"), "utf8")).not.toContain("DB_PASSWORD");
  expect(shown).toContain(
    "skipped service/dev:web/anchored: its file cannot be changed in place (change by hand: /replicas)",
  );
  expect(shown).toContain("skipped service/dev:web/new: it does not exist (it is not live)");
  expect(left.stdout + left.stderr).not.toContain(canary);
  expect(await source.runHere(["import", "--update", "service/dev:web/nothing"])).toMatchObject({ code: 3 });
  expect(await source.runHere(["import", "--update", "--into", "x"])).toMatchObject({ code: 3 });
});
