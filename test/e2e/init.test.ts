import { readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { git } from "../support/git.ts";
import { onTerminal } from "../support/pty.ts";
import { serve } from "../support/server.ts";
import { sourceOf } from "../support/source.ts";

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((file) => !/^\.(?:git|holdfast)\//.test(file))
    .toSorted();

const contentOf = (folder: string) => filesIn(folder).map((file) => [file, readFileSync(join(folder, file), "utf8")]);

const starter = [
  ".gitignore",
  ".holdfast.schema.json",
  "holdfast.yaml",
  "manifests/dev/cluster.yaml",
  "manifests/dev/web/hello.yaml",
  "manifests/dev/web/workspace.yaml",
];

test("init begins a source that is valid and is applied to a new control plane at once", async () => {
  const server = await serve();
  const source = await sourceOf({}, server);
  const begun = await source.runHere(["init"]);
  expect([begun.code, begun.stderr]).toEqual([0, ""]);
  expect(begun.stdout).toContain("Next: holdfast apply --embedded");
  expect(filesIn(source.folder)).toEqual(starter);
  // Every commented-out key is a correct one.
  const all = readFileSync(join(source.folder, "holdfast.yaml"), "utf8");
  await source.write("holdfast.yaml", all.replaceAll(/^# ((?: {2}- |[a-z]+:))/gm, "$1"));
  expect(await source.runHere(["fmt", "--check"])).toMatchObject({ code: 0 });
  expect(await source.runHere(["validate"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("3 manifests in 3 files"),
  });
  expect(Object.keys(parse(readFileSync(join(source.folder, "holdfast.yaml"), "utf8")))).toEqual([
    "paths",
    "ignore",
    "external",
    "defaults",
    "guards",
  ]);
  await source.write("holdfast.yaml", all);
  expect((await source.runHere(["plan"])).stdout).toContain("Plan: 3 to create");
  expect((await source.runHere(["apply", "--yes"])).stdout).toContain("Applied: 3 created");
  expect((await source.runHere(["plan"])).stdout).toContain("nothing to do, 3 unchanged");
});

test("the manifests name the schema by a path that leads to it", async () => {
  const source = await sourceOf({});
  await source.runHere(["init"]);
  for (const file of starter.filter((one) => one.startsWith("manifests/"))) {
    const [, path = ""] = /\$schema=(\S+)/.exec(readFileSync(join(source.folder, file), "utf8")) ?? [];
    expect(JSON.parse(readFileSync(join(source.folder, file, "..", path), "utf8")).title).toBe("Holdfast manifest");
  }
});

test("init can be repeated, goes on where it was killed, and overwrites nothing", async () => {
  const source = await sourceOf({ ".gitignore": "mine\n" });
  expect((await source.runHere(["init"])).stdout).toContain("left   .gitignore");
  const before = contentOf(source.folder);
  expect(before).toContainEqual([".gitignore", "mine\n"]);
  expect(await source.runHere(["init"])).toMatchObject({ code: 0, stdout: expect.not.stringContaining("wrote") });
  expect(contentOf(source.folder)).toEqual(before);
  await source.remove("manifests");
  await source.runHere(["init"]);
  expect(contentOf(source.folder)).toEqual(before);
  await source.write("holdfast.yaml", "paths: [elsewhere]\n");
  const mine = contentOf(source.folder);
  const here = await source.runHere(["init"]);
  expect(here).toMatchObject({ code: 3, stdout: "", stderr: expect.stringContaining("is a source already") });
  const below = await source.runHere(["init", "manifests/new"]);
  expect(below).toMatchObject({ code: 3, stderr: expect.stringContaining("is in the source") });
  expect(contentOf(source.folder)).toEqual(mine);
});

test("init writes through no link that a repository has", async () => {
  const source = await sourceOf({});
  const elsewhere = await sourceOf({});
  symlinkSync(elsewhere.folder, join(source.folder, "manifests"));
  const linked = await source.runHere(["init"]);
  expect([linked.code === 0, filesIn(elsewhere.folder)]).toEqual([false, []]);
});

test("a folder that init cannot make is named", async () => {
  const source = await sourceOf({ "new/manifests": "a file" });
  const ended = await source.runHere(["init", "new"]);
  expect([ended.code, ended.stderr.replaceAll(/\s+/g, " ")]).toEqual([
    3,
    expect.stringMatching(/new\/manifests\/\S+ cannot be written \(E\w+\)/),
  ]);
});

test("init on a workspace that exists declares no cluster, and says which command comes next", async () => {
  const source = await sourceOf({});
  const begun = await source.runHere(["init", "platform", "--workspace", "prod-eu:ranking", "--service", "ranker"]);
  expect(begun.stdout).toContain("Next: cd platform && holdfast plan --server URL");
  expect(filesIn(join(source.folder, "platform")).filter((file) => file.startsWith("manifests/"))).toEqual([
    "manifests/prod-eu/ranking/ranker.yaml",
    "manifests/prod-eu/ranking/workspace.yaml",
  ]);
  expect(await source.runHere(["init", "other", "--service", "not a name"])).toMatchObject({ code: 3 });
  expect(await source.runHere(["init", "other", "--workspace", "nowhere"])).toMatchObject({ code: 3 });
  expect(filesIn(source.folder).some((file) => file.startsWith("other"))).toBe(false);
});

test("init begins with what is live, so that a plan finds nothing to do, and can be repeated", async () => {
  const server = await serve();
  const first = await sourceOf({}, server);
  await first.runHere(["init"]);
  expect(await first.runHere(["apply", "--yes"])).toMatchObject({ code: 0 });
  const source = await sourceOf({}, server);
  const none = await source.runHere(["init", "found", "--from-live"], { HOLDFAST_SERVER: "" });
  expect(none).toMatchObject({ code: 3, stderr: expect.stringContaining("--server URL") });
  const begun = await source.runHere(["init", "found", "--from-live"]);
  expect(begun).toMatchObject({ code: 0, stdout: expect.stringContaining("Import: 3 written to found/manifests") });
  expect(filesIn(join(source.folder, "found"))).toEqual(starter);
  expect((await source.runHere(["plan", "--source", "found"])).stdout).toContain("nothing to do, 3 unchanged");
  expect((await source.runHere(["init", "found", "--from-live"])).stdout).toContain("3 unchanged");
});

test("init adds the files of a pipeline to a source that exists", async () => {
  const source = await sourceOf({ "holdfast.yaml": "paths: [elsewhere]\n" });
  for (const ci of ["github", "gitlab", "shell"])
    expect(await source.runHere(["init", "--ci", ci])).toMatchObject({ code: 0 });
  const files = filesIn(source.folder);
  expect(files).toEqual(
    expect.arrayContaining([
      ".github/workflows/review.yml",
      ".gitlab-ci.yml",
      ".gitlab/holdfast.yml",
      "ci/holdfast-ci",
    ]),
  );
  expect(files).not.toContain(".holdfast.schema.json");
  expect(statSync(join(source.folder, "ci/holdfast-ci")).mode & 0o111).not.toBe(0);
  const { include } = parse(readFileSync(join(source.folder, ".gitlab-ci.yml"), "utf8"));
  const [spec] = readFileSync(join(source.folder, include[0].local), "utf8").split("\n---\n");
  expect(Object.keys(parse(spec ?? "").spec.inputs)).toEqual(expect.arrayContaining(Object.keys(include[0].inputs)));
});

test("on a terminal init asks, again where an answer is not valid", async () => {
  const source = await sourceOf({});
  await git(source.folder, "init", "--quiet");
  const asked = await source.runThrough(onTerminal(80, "nowhere\\nprod-eu:ranking\\n\\ngitlab\\n"), ["init"], {
    CI: "",
  });
  expect(asked.stdout).toMatch(/cluster:workspace[\s\S]*It must be cluster:workspace[\s\S]*First service \[hello\]/);
  expect(asked.code).toBe(0);
  expect(filesIn(source.folder)).toEqual([
    ".gitignore",
    ".gitlab-ci.yml",
    ".gitlab/holdfast.yml",
    ".holdfast.schema.json",
    "holdfast.yaml",
    "manifests/prod-eu/ranking/hello.yaml",
    "manifests/prod-eu/ranking/workspace.yaml",
  ]);
  const server = await serve();
  const live = await sourceOf({}, server);
  expect(await live.runThrough(onTerminal(80, "maybe\\nyes\\n\\n"), ["init"], { CI: "" })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/Begin with what is live on http[\s\S]*yes or no\.[\s\S]*Import: nothing/),
  });
  const interrupted = await sourceOf({});
  const ended = await interrupted.runThrough(onTerminal(80, "", { pressed: "\\003" }), ["init"], { CI: "" });
  expect([ended.code, filesIn(interrupted.folder)]).toEqual([130, []]);
  const other = await sourceOf({});
  const left = await other.runThrough(onTerminal(80, "prod-eu:ranking\\n", { pressed: "\\004" }), ["init"], { CI: "" });
  expect([left.code === 0, filesIn(other.folder)]).toEqual([false, []]);
});
