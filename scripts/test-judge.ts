// Judges the last run of the suite by its result file, or the one that is named, and ends with its summary.
import { readFileSync } from "node:fs";
import { judgeSuite, suiteSummary } from "../test/runner/judge-suite.ts";
import { RESULT_FILE } from "../test/runner/result-file.ts";
import type { SuiteResult } from "../test/runner/suite-report.ts";
import { TEST_COUNT } from "../test/runner/test-count.ts";

const result: SuiteResult = JSON.parse(readFileSync(process.argv[2] ?? RESULT_FILE, "utf8"));
const faults = judgeSuite(result, TEST_COUNT);
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
console.log(suiteSummary(result));
