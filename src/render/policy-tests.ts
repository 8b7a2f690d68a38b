import type { PolicyTestReport, PolicyTestResult } from "../contract/generated/output.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import { count, joinCounts } from "./count-text.ts";
import { wrapWords } from "./wrap.ts";

/** The error about a test that got another verdict than the expected one, at its line. */
export function failedTest({ policy, name, file, line, expected, actual, message }: PolicyTestResult): Diagnostic {
  const which = name === null ? "" : `, ${JSON.stringify(name)}`;
  const what = actual === null ? "cannot be run" : `expects ${expected}, and the verdict is ${actual}`;
  const summary = `the test of policy ${policy}${which} ${what}`;
  return { severity: "error", code: "policy-test", summary, detail: message, file, line, column: null };
}

/** The same for code scanning, which tells findings apart by their code. */
export function scannedTest(test: PolicyTestResult): Diagnostic {
  const failed = failedTest(test);
  return { ...failed, code: `${failed.code}/${test.policy}` };
}

/** The counts of a run of tests, as one sentence. */
export function policyTestText({ summary, diagnostics }: PolicyTestReport, width: number): string {
  const { policies, untested, passed, failed } = summary;
  const isRun = passed + failed > 0 || diagnostics.length === 0;
  const counts = joinCounts([
    [passed, passed === 1 ? "test passed" : "tests passed"],
    [failed, failed === 1 ? "test failed" : "tests failed"],
    [untested, untested === 1 ? "policy without a test" : "policies without a test"],
  ]);
  const text = isRun
    ? `${count(policies, "policy", "policies")}: ${counts}`
    : "No test was run: correct the policies first";
  return [...wrapWords(text, { indent: "", width }), ""].join("\n");
}
