import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { foundations, service } from "../support/manifests.ts";
import { sourceOf } from "../support/source.ts";

const [hook, formatting] = parse(readFileSync(".pre-commit-hooks.yaml", "utf8"));

test("the hook checks all manifests of a repository, offline, whichever of them a commit changes", async () => {
  expect(hook).toMatchObject({ id: "holdfast-validate", language: "system", pass_filenames: false });
  const [program, ...args] = hook.entry.split(" ");
  expect(program).toBe("holdfast");
  const source = await sourceOf({ ...foundations, "api.yaml": service("api") });
  execFileSync("git", ["init", "--quiet"], { cwd: source.folder });
  expect(await source.run(args)).toMatchObject({ code: 0 });
  await source.write("broken.yaml", service("broken", "replicas: many\n"));
  expect(await source.run(args)).toMatchObject({ code: 3, stdout: expect.stringContaining("broken.yaml:") });
});

test("the hook that formats writes the files, which stops the commit", async () => {
  expect(formatting).toMatchObject({ id: "holdfast-fmt", language: "system", pass_filenames: false });
  const [program, ...args] = formatting.entry.split(" ");
  expect(program).toBe("holdfast");
  const source = await sourceOf({ "ml.yaml": "name: ml\ntype: team\nmembers: []\n" });
  expect(await source.run(args)).toMatchObject({ code: 0 });
  expect(readFileSync(join(source.folder, "ml.yaml"), "utf8")).toBe("type: team\nname: ml\nmembers: []\n");
});

test("the page on installation names the hooks that there are", () => {
  for (const { id } of [hook, formatting]) expect(readFileSync("docs/install.md", "utf8")).toContain(`- id: ${id}\n`);
});
