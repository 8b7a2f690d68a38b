import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { manifestTypes } from "../../src/schema/schemas.ts";
import { sourceOf } from "../support/source.ts";

test("the schema of manifests and that of each kind go to stdout, without a server", async () => {
  const source = await sourceOf({});
  const ended = await source.run(["schema"]);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ended.stdout)).toMatchObject({ $id: "urn:holdfast:schema:manifest" });
  for (const type of [...manifestTypes, "config"]) {
    const { code, stdout } = await source.runHere(["schema", type]);
    expect([code, JSON.parse(stdout).$id]).toEqual([0, `urn:holdfast:schema:${type}`]);
  }
});

test("the schema goes into a file that others may read, the second time too", async () => {
  const source = await sourceOf({});
  const file = join(source.folder, ".holdfast.schema.json");
  const into = ["schema", "--into", ".holdfast.schema.json"];
  expect(await source.run(into)).toMatchObject({ code: 0, stdout: "", stderr: "wrote .holdfast.schema.json\n" });
  const [text, { mode }] = [readFileSync(file, "utf8"), statSync(file)];
  expect([JSON.parse(text).$id, mode & 0o777]).toEqual(["urn:holdfast:schema:manifest", 0o666 & ~process.umask()]);
  chmodSync(file, 0o640);
  expect(await source.run(into)).toMatchObject({ code: 0 });
  expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777]).toEqual([text, 0o640]);
  // It is no manifest.
  expect((await source.run(["validate"])).stdout).toContain("0 manifests in 0 files");
});

test("a kind that does not exist, or a file that cannot be written, ends with 3 and what to do", async () => {
  const source = await sourceOf({});
  symlinkSync("elsewhere", join(source.folder, "link.json"));
  const faults = [
    [["schema", "servce"], "there is no kind servce\n  → did you mean service?"],
    [["schema", "cofnig"], "did you mean config?"],
    [["schema", "kubernetes"], "the kinds are application-set, "],
    [["schema", "_config"], "did you mean config?"],
    [["schema", ""], "there is no kind "],
    [["schema", "service", "team"], "too many arguments"],
    [["schema", "--int", "x"], "(Did you mean --into?)"],
    [["schema", "--into", "nowhere/schema.json"], "name a file in a folder that exists with --into"],
    [["schema", "--into", "."], "is a folder, not a regular file"],
    [["schema", "--into", "link.json"], "is a symbolic link, not a regular file"],
  ] as const;
  for (const [args, says] of faults) {
    const { code, stdout, stderr } = await source.runHere(args);
    expect([code, stdout, stderr]).toEqual([3, "", expect.stringContaining(says)]);
  }
});

test("a reader of the schema may close its pipe early", async () => {
  const program = `"${process.execPath}" "${resolve("bin/holdfast.js")}" schema`;
  const { status, stdout, stderr } = spawnSync("bash", ["-o", "pipefail", "-c", `${program} | head -1`]);
  expect([status, String(stdout), String(stderr)]).toEqual([0, "{\n", ""]);
});
