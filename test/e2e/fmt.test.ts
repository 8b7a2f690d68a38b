import { spawnSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { needsPermissions } from "../support/as-root.ts";
import { faultsOf } from "../support/output-schemas.ts";
import { exampleSource, sourceOf } from "../support/source.ts";

const mixed = "# of the platform\nname: ml\nmembers: [ada@example.com] # one\ntype: team\n";
const ordered = "# of the platform\ntype: team\nname: ml\nmembers: [ada@example.com] # one\n";

describe("fmt", () => {
  test("writes only the files that are not in canonical order, and keeps their modes", async () => {
    const source = await sourceOf({ "a.yaml": mixed, "b.yaml": ordered.replace("ml", "b"), "c.yaml": "b: 1\na: 2\n" });
    const file = (name: string) => join(source.folder, name);
    chmodSync(file("a.yaml"), 0o640);
    const before = ["b.yaml", "c.yaml"].map((name) => statSync(file(name)));
    expect(await source.run(["fmt"])).toEqual({
      ...{ code: 0, signal: null, stderr: "" },
      stdout: "a.yaml\nFormat: 1 file changed, 2 manifests in 3 files\n",
    });
    expect([readFileSync(file("a.yaml"), "utf8"), statSync(file("a.yaml")).mode & 0o777]).toEqual([ordered, 0o640]);
    expect(["b.yaml", "c.yaml"].map((name) => statSync(file(name)).ino)).toEqual(before.map(({ ino }) => ino));
    expect((await source.runHere(["fmt"])).stdout).toBe("Format: nothing to do, 2 manifests in 3 files\n");
    expect(await source.runHere(["fmt", "--check"])).toMatchObject({ code: 0 });
  });

  test("--check writes nothing and ends with 2 when a file would change", async () => {
    const source = await sourceOf({ "a.yaml": mixed });
    const checked = await source.runHere(["fmt", "--check"]);
    expect(checked).toMatchObject({ code: 2, stdout: "a.yaml\nFormat: 1 file would change, 1 manifest in 1 file\n" });
    expect(readFileSync(join(source.folder, "a.yaml"), "utf8")).toBe(mixed);
    const { code, stdout } = await source.runHere(["fmt", "--check", "-o", "json"]);
    expect([code, faultsOf("fmt", stdout)]).toEqual([2, []]);
    expect(JSON.parse(stdout)).toMatchObject({ summary: { manifests: 1, files: 1, changed: 1 }, changed: ["a.yaml"] });
  });

  test("deletes what a run that was killed has left beside its files", async () => {
    const draft = "a.yaml.6f1c1b0e-3a52-4c55-9a0e-0c8a2f5d7e11";
    const source = await sourceOf({ "a.yaml": mixed, [draft]: "type:", [`${draft}.yaml`]: "b: 1\n" });
    await source.runHere(["fmt", "--check"]);
    expect(readdirSync(source.folder)).toContain(draft);
    expect((await source.runHere(["fmt"])).code).toBe(0);
    expect(readdirSync(source.folder).filter((name) => name.startsWith("a."))).toEqual(["a.yaml", `${draft}.yaml`]);
  });

  test("formats the paths that are named, and no others", async () => {
    const source = await sourceOf({ "a.yaml": mixed, "teams/b.yaml": mixed, "teams/c.yaml": mixed });
    expect((await source.runHere(["fmt", "teams"])).stdout).toMatch(/^teams\/b.yaml\nteams\/c.yaml\nFormat: 2 files/);
    expect((await source.runHere(["fmt", "--check"])).stdout).toMatch(/^a.yaml\nFormat: 1 file would/);
    expect((await source.runHere(["fmt", "a.yaml", "teams/b.yaml"])).stdout).toMatch(/^a.yaml\nFormat: 1 file changed/);
    expect(await source.runHere(["fmt", "no.yaml"])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("no.yaml"),
    });
    expect(await source.runHere(["fmt", "/etc"])).toMatchObject({ code: 3, stderr: expect.stringContaining("/etc") });
  });

  test("leaves what it cannot read as it is, formats the rest, and ends with 3", async () => {
    const files = { "a.yaml": mixed, "b.yaml": "name: b\ntype: team\nmembers: [\n", "c.yaml": "name: [ {{ x }}\n" };
    const source = await sourceOf(files);
    const ended = await source.run(["fmt"]);
    expect(ended).toMatchObject({ code: 3, stdout: "a.yaml\nFormat: 1 file changed, 1 manifest in 3 files\n" });
    expect(ended.stderr).toMatch(/^b\.yaml:3:\d+: error: .*\[syntax\]/);
    expect(readFileSync(join(source.folder, "b.yaml"), "utf8")).toBe(files["b.yaml"]);
    expect((await source.runHere(["fmt", "--check"])).code).toBe(3);
  });

  test("follows no link and changes none", async () => {
    const source = await sourceOf({ "holdfast.yaml": "{}\n" });
    const outside = join((await sourceOf({ "outside.yaml": mixed })).folder, "outside.yaml");
    symlinkSync(outside, join(source.folder, "link.yaml"));
    const ended = await source.runHere(["fmt"]);
    expect(ended.stderr).toContain("link.yaml");
    expect([readFileSync(outside, "utf8"), lstatSync(join(source.folder, "link.yaml")).isSymbolicLink()]).toEqual([
      mixed,
      true,
    ]);
  });

  test("reports a folder that cannot be read", async (context) => {
    needsPermissions(context);
    const source = await sourceOf({ "a.yaml": mixed });
    mkdirSync(join(source.folder, "closed"), { mode: 0o000 });
    const ended = await source.runHere(["fmt"]);
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining("closed") });
  });

  test("keeps what the examples say, and their comments", async () => {
    const source = await exampleSource();
    const { stdout: before } = await source.runHere(["validate", "--strict"]);
    expect(await source.runHere(["fmt"])).toMatchObject({ code: 0, stderr: "" });
    expect(await source.runHere(["fmt", "--check"])).toMatchObject({ code: 0 });
    expect(await source.runHere(["validate", "--strict"])).toMatchObject({ code: 0, stdout: before });
  });

  test("an empty source and a closed pipe are no trouble", async () => {
    const source = await sourceOf({});
    expect(await source.runHere(["fmt"])).toMatchObject({
      code: 0,
      stdout: "Format: nothing to do, 0 manifests in 0 files\n",
    });
    for (let nth = 0; nth < 500; nth += 1)
      writeFileSync(join(source.folder, `${nth}.yaml`), mixed.replace("ml", `t${nth}`));
    const program = `"${process.execPath}" "${resolve("bin/holdfast.js")}" fmt`;
    const { status, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", `${program} | head -1`], {
      cwd: source.folder,
    });
    expect([status, String(stderr)]).toEqual([0, ""]);
    expect((await source.runHere(["fmt", "--check"])).code).toBe(0);
  });
});
