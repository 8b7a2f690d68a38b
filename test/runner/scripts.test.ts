import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { exitCodeOf, type Row } from "../../bench/judge-results.ts";
import { copyCheckout } from "../support/copy-checkout.ts";
import { temporaryFolder } from "../support/folder.ts";
import type { SuiteResult } from "./suite-report.ts";
import { TEST_COUNT } from "./test-count.ts";

// Each starts a program that builds or tests.
vi.setConfig({ testTimeout: 180_000 });

const root = resolve(import.meta.dirname, "../..");

describe("of the scripts that judge,", () => {
  test.each([
    ["a failed test", { failed: ["a > b"] }, 1],
    ["a test that was skipped without a reason", { skipped: [{ test: "a > b", reason: null }] }, 1],
    ["nothing, where all have passed", {}, 0],
  ])("test:judge fails for %s", async (_, change, code) => {
    const file = join(await temporaryFolder(), "suite.json");
    const projects = Object.keys(TEST_COUNT).map((name) => [
      name,
      { passed: TEST_COUNT[name] ?? 0, failed: [], skipped: [], ...change },
    ]);
    const result: SuiteResult = { reason: "passed", errors: [], projects: Object.fromEntries(projects) };
    writeFileSync(file, JSON.stringify(result));
    const { status, stdout } = run(["scripts/test-judge.ts", file]);
    expect(status).toBe(code);
    expect(stdout).toMatch(/^Tests: \d+ passed, \d+ failed, \d+ skipped\n$/);
  });

  test("test:judge fails where a run has left no result", async () => {
    expect(run(["scripts/test-judge.ts", join(await temporaryFolder(), "none.json")]).status).toBe(1);
  });

  test("test:count writes no numbers of a run that failed", async () => {
    const file = join(await temporaryFolder(), "suite.json");
    const result: SuiteResult = { reason: "failed", errors: [], projects: {} };
    writeFileSync(file, JSON.stringify(result));
    expect(run(["scripts/test-count.ts", file])).toMatchObject({ status: 1 });
  });

  test("soak fails when a sweep does", () => {
    expect(run(["scripts/soak.ts"], { RED_TEST: "failing-test" }).status).toBe(1);
  });

  test("mutations fails for a safeguard that no test misses", async () => {
    const list = join(await temporaryFolder(), "list.ts");
    const mutation = {
      name: "a docstring",
      find: "/** One line with the numbers of all projects together. */",
      replace: "",
      killedBy: { project: "parts", file: "test/runner/judge-suite.test.ts", title: "is summarised" },
    };
    writeFileSync(list, `export const mutations = ${JSON.stringify([mutation])};`);
    const { status, stdout } = run(["test/mutations/run.ts", "--list", list]);
    expect(stdout).toContain("without a docstring: NOT NOTICED");
    expect(status).toBe(1);
  });

  test("bench fails for a missed goal", () => {
    const row: Row = { measure: "", goal: "", figure: "", detail: "", verdict: "met" };
    expect(exitCodeOf([row, { ...row, verdict: "told" }])).toBe(0);
    expect(exitCodeOf([row, { ...row, verdict: "missed" }])).toBe(1);
  });

  test("generate --check fails for a stale file, and names it", () => {
    const folder = copyCheckout();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "docs/concept.svg"), "<svg/>");
    const { status, stderr } = run(["scripts/generate.ts", "--check"], {}, folder);
    expect(stderr).toContain("docs/concept.svg is stale");
    expect(status).toBe(1);
  });
});

function run(args: readonly string[], more: { readonly [name: string]: string } = {}, cwd = root) {
  const { NODE_OPTIONS: _, VITEST: __, ...env } = process.env;
  return spawnSync(process.execPath, args, { cwd, encoding: "utf8", env: { ...env, ...more } });
}
