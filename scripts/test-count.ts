// Writes how many tests each project had in the last run of the suite, which later runs must have at least.
import { readFileSync, writeFileSync } from "node:fs";
import { judgeSuite } from "../test/runner/judge-suite.ts";
import { RESULT_FILE } from "../test/runner/result-file.ts";
import type { SuiteResult } from "../test/runner/suite-report.ts";
import { COUNT_FILE } from "../test/runner/test-count.ts";

const result: SuiteResult = JSON.parse(readFileSync(process.argv[2] ?? RESULT_FILE, "utf8"));
const faults = judgeSuite(result, {});
if (faults.length > 0) {
  console.error(["the last run of the suite has not passed: run npm test first", ...faults].join("\n"));
  process.exitCode = 1;
} else {
  const counts = Object.entries(result.projects).map(([name, { passed, skipped }]) => [name, passed + skipped.length]);
  writeFileSync(COUNT_FILE, `${JSON.stringify(Object.fromEntries(counts.toSorted()), null, 2)}\n`);
}
