import { mkdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { kindOf, kinds } from "../../src/kinds/index.ts";
import { fullManifest } from "../../src/schema/sample-manifest.ts";
import { manifestTypes } from "../../src/schema/schemas.ts";
import { serve } from "../support/server.ts";
import { examples, sourceOf } from "../support/source.ts";

type Outcome = { readonly result: string; readonly error: { readonly code: string } | null };

/** More than the choices of any kind. */
const FORMS = 100;

test("a manifest of each kind, minimal and with every field, is valid as it is printed", async () => {
  const source = await sourceOf({});
  for (const type of manifestTypes) {
    for (const full of [[], ["--full"]]) {
      const { code, stdout } = await source.runHere(["new", type, ...full]);
      expect([code, stdout.split("\n")[0]]).toEqual([0, "# yaml-language-server: $schema=.holdfast.schema.json"]);
      await source.write("manifest.yaml", stdout);
      expect(await source.runHere(["validate", "--strict"])).toMatchObject({ code: 0, stdout: /^1 manifest/ });
    }
  }
});

// What a manifest takes from elsewhere is not here: `secret-groups.test.ts` has it.
const writable = manifestTypes.filter((type) => kindOf(type)?.values === undefined);

test("every field of every kind, in each of its forms, is accepted by the control plane", async () => {
  const server = await serve(["--seed", examples]);
  const manifests = new Map(
    writable.flatMap((type) =>
      Array.from({ length: FORMS }, (_, form) => [
        JSON.stringify(fullManifest(type, form)),
        `${type.replace("_", "-")}-${form}`,
      ]),
    ),
  );
  // One secret belongs to one account.
  const named = (text: string, name: string) =>
    JSON.stringify({ ...JSON.parse(text), name }).replace("/ci-token", `/${name}`);
  const files = Object.fromEntries(Array.from(manifests, ([text, name]) => [`${name}.json`, named(text, name)]));
  const source = await sourceOf({ ...files, "holdfast.yaml": 'external: ["**"]\n' }, server);
  const ended = await source.runHere(["apply", "--yes", "--no-wait", "--sink", "file", "-o", "json"]);
  const { outcomes } = JSON.parse(ended.stdout) as { outcomes: readonly Outcome[] };
  expect(outcomes).toHaveLength(manifests.size);
  // Only files on the machine of the test are no example for a control plane.
  const refused = outcomes.filter(({ result, error }) => result !== "created" && error?.code !== "no-files");
  expect(refused).toEqual([]);
});

test("a name fills the fields that it consists of", async () => {
  const source = await sourceOf({});
  const named = async (name: string) => JSON.parse((await source.runHere(["new", name, "-o", "json"])).stdout);
  expect(await named("service/dev-eu:web/api")).toMatchObject({ name: "api", workspace_fqn: "dev-eu:web" });
  expect(await named("service/api")).toMatchObject({ name: "api", workspace_fqn: "prod-eu:ranking" });
  expect(await named("workspace/dev-eu:web")).toMatchObject({ name: "web", cluster_fqn: "dev-eu" });
  expect(await named("chat_prompt/registry/answer")).toMatchObject({ name: "answer", ml_repo: "registry" });
  expect(await named("sso-team/ml")).toMatchObject({ type: "sso-team", name: "ml" });
  expect(kinds.length).toBeGreaterThan(9);
});

test("a new file gets the manifest, with the way to the schema from where it is", async () => {
  const source = await sourceOf({ "holdfast.yaml": "{}\n", ".holdfast.schema.json": "{}\n" });
  mkdirSync(join(source.folder, "teams/eu"), { recursive: true });
  const ended = await source.run(["new", "team/ml", "--into", "teams/eu/ml.yaml"]);
  expect(ended).toMatchObject({ code: 0, stdout: "", stderr: expect.stringMatching(/^wrote teams\/eu\/ml\.yaml: /) });
  const file = join(source.folder, "teams/eu/ml.yaml");
  expect(await readFile(file, "utf8")).toBe(
    [
      "# yaml-language-server: $schema=../../.holdfast.schema.json",
      "# More of it: holdfast explain team, or holdfast new team --full",
      "type: team",
      "# Name of the team. Form: 1 to 64 letters, digits, '-', '_' or '.', first a",
      "# letter or digit",
      "name: ml",
      "# E-mails of the team's members; order carries no meaning",
      "members:",
      "  - ada@example.com",
      "",
    ].join("\n"),
  );
  expect(statSync(file).mode & 0o777).toBe(0o666 & ~process.umask());
  await source.write("teams/eu/ml.yaml", "mine\n");
  expect(await source.runHere(["new", "team/ml", "--into", "teams/eu/ml.yaml"])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("teams/eu/ml.yaml exists\n  → name a new file with --into"),
  });
  expect(await readFile(file, "utf8")).toBe("mine\n");
  expect(await source.runHere(["new", "team/ml", "--into", "ml.json"])).toMatchObject({ code: 0 });
  expect(JSON.parse(await readFile(join(source.folder, "ml.json"), "utf8"))).toMatchObject({ name: "ml" });
});

test("what is no kind or no name of it ends with 3, and says what would be", async () => {
  const source = await sourceOf({});
  const faults = [
    ["servce", "there is no kind servce\n  → did you mean service?"],
    ["service/Ü", "service/Ü names no service: `name` must be "],
    ["service/a/b", "→ write service/CLUSTER:WORKSPACE/NAME or service/NAME"],
    ["team/", "→ write team/NAME\n"],
    ["config", "there is no kind config"],
    ["constructor", "there is no kind constructor"],
    ["", "there is no kind "],
  ];
  for (const [name = "", says] of faults) {
    const { code, stdout, stderr } = await source.runHere(["new", name]);
    expect([code, stdout, stderr], name).toEqual([3, "", expect.stringContaining(says ?? "")]);
  }
  const failed = await source.runHere(["new", "servce", "-o", "json"]);
  expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: "invalid", hint: "did you mean service?" } });
});
