import type { TestCount } from "./judge-suite.ts";
import type { SuiteResult } from "./suite-report.ts";

/** A run of the test that fails on purpose: its exit code, and its result if it left one. */
export type RedRun = { readonly status: number | null; readonly result: SuiteResult | null };

/** What is wrong with a run that has to fail in each project; null if it failed as it has to. */
export function judgeRed({ status, result }: RedRun, count: TestCount): string | null {
  const lacking = Object.keys(count).filter((project) => result?.projects[project]?.failed.length !== 1);
  if (lacking.length > 0) return `the test that fails on purpose did not fail in ${lacking.join(", ")}`;
  return status === 0 ? "a test has failed, and the exit code was 0" : null;
}
