// Proves that a failing test ends the runner with a failure: each project, with its global set-up, runs one that fails.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { judgeRed } from "../test/runner/judge-red.ts";
import { RESULT_FILE } from "../test/runner/result-file.ts";
import { TEST_COUNT } from "../test/runner/test-count.ts";

const root = resolve(import.meta.dirname, "..");
const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1e8,
  // With the reporter of the suite, which is part of what ends the process.
  env: { ...process.env, RED_TEST: "failing-test", npm_lifecycle_event: "test" },
});
const result = existsSync(RESULT_FILE) ? JSON.parse(readFileSync(RESULT_FILE, "utf8")) : null;
const fault = judgeRed({ status, result }, TEST_COUNT);
if (fault !== null) {
  process.stdout.write(`${stdout}${stderr}`);
  console.error(fault);
  process.exitCode = 1;
}
