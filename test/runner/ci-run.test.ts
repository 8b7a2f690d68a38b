import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/folder.ts";

const commands = ["cit", "run -s test:judge", "run -s check", "run -s test:red"];

test("CI runs the README's command and its judge, the checks, and the test that fails on purpose last", async () => {
  const { status, stdout } = await runCi(null);
  expect(stdout.trim().split("\n")).toEqual(commands.map((command) => `npm ${command}`));
  expect(status).toBe(0);
});

test.each(commands)("CI fails and ends when npm %s does", async (failing) => {
  const { status, stdout } = await runCi(failing);
  expect(stdout.trim().split("\n").at(-1)).toBe(`npm ${failing}`);
  expect(status).not.toBe(0);
});

/** Runs `.ci/run` in a folder of its own, with an npm that tells its arguments and fails for some. */
async function runCi(failing: string | null) {
  const folder = await temporaryFolder();
  cpSync(resolve(import.meta.dirname, "../../.ci"), join(folder, ".ci"), { recursive: true });
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/npm"), `#!/bin/sh\necho "npm $*"\n[ "$*" != "${failing}" ]\n`);
  chmodSync(join(folder, "bin/npm"), 0o755);
  const env = { PATH: `${join(folder, "bin")}:${process.env.PATH}` };
  return spawnSync("bash", [join(folder, ".ci/run")], { encoding: "utf8", env });
}
