import { describe, expect, inject, test } from "vitest";
import { endingOf, hostileTexts } from "../support/hostile-texts.ts";
import { validationOf } from "../support/json-output.ts";
import { everyKind, service, team } from "../support/manifests.ts";
import { startNode } from "../support/process.ts";
import { exampleSource, sourceOf } from "../support/source.ts";

const broken = {
  ...everyKind,
  "notes.yaml": "type: team\nname: [unclosed\n",
  "services/api.yaml": service("api", "replica: 2\n"),
  "services/worker.yaml": service("worker").replace("dev:web", "dev:wbe"),
  "team.yaml": `${team("ml")}---\n${team("ml", "grace@example.com")}`,
};

const faults = [
  { place: "notes.yaml:2:7", code: "syntax" },
  { place: "services/api.yaml:9:1", code: "unknown-field" },
  { place: "services/worker.yaml:3:16", code: "undeclared-reference" },
  { place: "team.yaml:2:7", code: "duplicate-identity" },
  { place: "team.yaml:6:7", code: "duplicate-identity" },
];

describe("validate", () => {
  test("reports a valid source, and needs no server", async () => {
    const source = await sourceOf(everyKind);
    const ended = await source.run(["validate"]);
    expect(ended).toMatchObject({ code: 0, stdout: "8 manifests in 8 files: valid\n", stderr: "" });
    const examples = await exampleSource();
    expect(await examples.run(["validate", "--strict"])).toMatchObject({ code: 0, stderr: "" });
  });

  test("names every fault at once with file, line and column, and the likely cure", async () => {
    const source = await sourceOf(broken);
    const { code, stdout, stderr } = await source.runHere(["validate"]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
    const found = stdout.matchAll(/^(\S+:\d+:\d+): error: .* \[(\S+)\]$/gm);
    expect([...found].map(([, place, fault]) => ({ place, code: fault }))).toEqual(faults);
    expect(stdout).toContain("did you mean `replicas`?");
    expect(stdout).toContain("Did you mean `dev:web`?");
    expect(stdout).toMatch(/^6 of 11 manifests in 10 files are valid: 5 errors\n$/m);
  });

  test("says the same as JSON", async () => {
    const source = await sourceOf(broken);
    const ended = await source.runHere(["validate", "-o", "json"]);
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 3, stderr: "" });
    const { diagnostics, ...rest } = validationOf(ended);
    expect(rest).toEqual({
      format_version: "2.2",
      summary: { files: 10, manifests: 6, faulty: 5, errors: 5, warnings: 0, unmanaged: 0, unmanagedTypes: {} },
    });
    expect(diagnostics.map(({ file, line, column, code }) => ({ place: `${file}:${line}:${column}`, code }))).toEqual(
      faults,
    );
    for (const diagnostic of diagnostics) {
      expect(Object.keys(diagnostic)).toEqual(["severity", "code", "summary", "detail", "file", "line", "column"]);
    }
  });

  test("takes warnings for errors when it is told to be strict", async () => {
    const source = await sourceOf({ ...everyKind, "unknown.yaml": "type: servce\nname: x\n" });
    expect(await source.runHere(["validate"])).toMatchObject({ code: 0 });
    const strict = await source.runHere(["validate", "--strict"]);
    expect(strict.code).toBe(3);
    expect(strict.stdout).toContain("unknown.yaml:1:7: warning: ");
    expect(strict.stdout).toMatch(/: 1 warning, treated as an error\n$/);
  });

  test("names files relative to the working directory, and selects by path", async () => {
    const source = await sourceOf({ ...broken, "holdfast.yaml": "{}\n" });
    const whole = await source.runHere(["validate", "team.yaml"]);
    expect(whole.code).toBe(3);
    expect(whole.stdout.match(/^\S+:\d+:\d+/gm)).toEqual(["team.yaml:2:7", "team.yaml:6:7"]);
    expect(whole.stdout).toMatch(/^0 of 2 manifests in 1 file are valid: 2 errors\n$/m);
    const services = await source.runHere(["validate", "-o", "json", "services"]);
    expect(validationOf(services).summary).toMatchObject({ manifests: 0, faulty: 2, errors: 2 });
    expect(await source.runHere(["validate", "platform"])).toMatchObject({ code: 0 });
  });

  const hostileTest = "B20: reads hostile files of the largest size in 64 MiB, and the sound ones among them";
  test(hostileTest, async () => {
    // One in three, since each costs a good part of a second.
    const texts = Object.entries(hostileTexts).filter((_, index) => index % 3 === 0);
    const hostile = texts.map(([name, make], index) => [`hostile/${index}.${endingOf(name)}`, make(1024 * 1024)]);
    const { folder } = await sourceOf({ ...everyKind, ...Object.fromEntries(hostile) });
    const args = ["--max-old-space-size=64", inject("holdfast"), "validate", "-o", "json"];
    const ended = await startNode(args, { cwd: folder }).ended;
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 3, stderr: "" });
    const { summary, diagnostics } = validationOf(ended);
    expect(summary).toMatchObject({ files: 8 + hostile.length, manifests: 8 });
    expect(new Set(diagnostics.map(({ file }) => file)).size).toBe(hostile.length);
  });

  test("warns of a source without manifests", async () => {
    const source = await sourceOf({ "README.md": "nothing here\n" });
    const ended = await source.runHere(["validate"]);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
    expect(ended.stdout).toMatch(/^warning: no manifest files were found \[empty-source\]\n/);
    const strict = await source.runHere(["validate", "--strict", "-o", "json"]);
    expect(strict.code).toBe(3);
    expect(validationOf(strict)).toMatchObject({ summary: { warnings: 1 }, diagnostics: [{ code: "empty-source" }] });
    await source.write("team.yaml", "kind: team\nname: ml\nmembers: [ada@example.com]\n");
    const { diagnostics } = validationOf(await source.runHere(["validate", "-o", "json"]));
    expect(diagnostics.map(({ code }) => code)).toEqual(["no-type"]);
  });
});

test("what is not ours in a monorepo is counted, so that --strict can be used at its root", async () => {
  const monorepo = {
    ...everyKind,
    "package.json": JSON.stringify({ name: "x", type: "module", types: "./index.d.ts" }),
    ".github/dependabot.yml": "version: 2\n",
    "k8s/all.yaml": "apiVersion: v1\nkind: Service\nspec: {type: ClusterIP}\n---\nkind: ConfigMap\n",
    "chart/templates/x.yaml": "kind: {{ .Values.kind }}\n{{- if .Values.on }}\na: 1\n",
    "compose.yaml": "services:\n  web: {image: nginx}\n",
    "ci/build.yaml": "type: job\nname: build\nscript: [make]\n",
    "platform.yaml": "type: gateway\nname: a\n---\ntype: gateway\nname: b\n---\ntype: secret-store\nname: c\n",
  };
  const source = await sourceOf(monorepo);
  const ended = await source.runHere(["validate", "--strict"]);
  expect([ended.code, ended.stdout, ended.stderr]).toEqual([
    0,
    "Not ours: 9 documents (4 without a type, 2 of type gateway, 1 of type job, 1 of " +
      "type module, 1 of type secret-store); --show unmanaged lists them\n" +
      "Not ours, though of a type of ours: ci/build.yaml\n" +
      "8 manifests in 14 files: valid\n",
    "",
  ]);
  const listed = validationOf(await source.runHere(["validate", "-o", "json", "--show", "unmanaged"]));
  expect(listed.summary).toMatchObject({
    warnings: 0,
    unmanaged: 9,
    unmanagedTypes: { gateway: 2, job: 1, module: 1, "secret-store": 1 },
  });
  expect(listed.unmanaged?.map(({ file }) => file)).toEqual([
    "chart/templates/x.yaml",
    "ci/build.yaml",
    "compose.yaml",
    "k8s/all.yaml",
    "package.json",
    "platform.yaml",
    "platform.yaml",
  ]);
  const chosen = await sourceOf({ ...monorepo, "holdfast.yaml": "paths: [.]\n" });
  const [warned, ...others] = validationOf(await chosen.runHere(["validate", "-o", "json"])).diagnostics;
  expect(others).toEqual([]);
  expect(warned).toMatchObject({ severity: "warning", code: "not-ours", file: "ci/build.yaml", line: 1, column: 7 });
  const slip = await sourceOf({ ...monorepo, "slip.yaml": "type: servce\nname: a\n" });
  expect(await slip.runHere(["validate", "--strict"])).toMatchObject({ code: 3 });
});
