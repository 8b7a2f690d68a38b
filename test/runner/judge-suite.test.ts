import { describe, expect, test } from "vitest";
import { judgeRed } from "./judge-red.ts";
import { judgeSuite, suiteSummary } from "./judge-suite.ts";
import type { ProjectResult, SuiteResult } from "./suite-report.ts";

const fine: ProjectResult = { passed: 99, failed: [], skipped: [{ test: "a > b", reason: "only root could do so" }] };
const passed: SuiteResult = { reason: "passed", errors: [], projects: { parts: fine, e2e: fine } };
const count = { parts: 100, e2e: 100 };
const judge = (change: Partial<SuiteResult>) => judgeSuite({ ...passed, ...change }, count);

describe("a run of the suite", () => {
  test("passes with as many tests as it had, and a reason for each that was skipped", () => {
    expect(judge({})).toEqual([]);
    expect(judgeSuite(passed, { parts: 90, e2e: 90 })).toEqual([]);
  });

  test.each([
    ["a failed test", { projects: { parts: { ...fine, failed: ["c > d"] }, e2e: fine } }, "failed: c > d"],
    ["an error outside of a test", { errors: ["a worker died"] }, "error outside of the tests: a worker died"],
    ["an interruption", { reason: "interrupted" }, "the run ended as interrupted"],
    ["a project that did not run", { projects: { parts: fine } }, "e2e: 0 tests, expected at least 100"],
    ["a lost test", { projects: { parts: { ...fine, passed: 98 }, e2e: fine } }, "parts: 99 tests, expected at least"],
    [
      "a test that was skipped without a reason",
      { projects: { parts: { ...fine, skipped: [{ test: "c > d", reason: null }] }, e2e: fine } },
      "skipped without a reason: c > d",
    ],
    [
      "a project that was skipped as a whole",
      { projects: { parts: { ...fine, passed: 0, skipped: Array(100).fill(fine.skipped[0]) }, e2e: fine } },
      "parts: 100 of 100 tests were skipped",
    ],
  ])("does not pass with %s", (_, change, fault) => {
    expect(judge(change)).toEqual([expect.stringContaining(fault)]);
  });

  test("is summarised in one line", () => {
    expect(suiteSummary(passed)).toBe("Tests: 198 passed, 0 failed, 2 skipped");
  });
});

describe("a test that fails on purpose", () => {
  const failed: ProjectResult = { passed: 0, failed: ["red"], skipped: [] };
  const red: SuiteResult = { reason: "failed", errors: [], projects: { parts: failed, e2e: failed } };

  test("has to fail in each project, and to make the exit code a failure", () => {
    expect(judgeRed({ status: 1, result: red }, count)).toBeNull();
    expect(judgeRed({ status: 0, result: red }, count)).toMatch("the exit code was 0");
    expect(judgeRed({ status: 1, result: null }, count)).toMatch("parts, e2e");
    expect(judgeRed({ status: 1, result: { ...red, projects: { parts: failed } } }, count)).toMatch("in e2e");
  });
});
