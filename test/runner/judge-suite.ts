import type { SuiteResult } from "./suite-report.ts";

/** The number of tests that each project has at least. */
export type TestCount = { readonly [project: string]: number };

// Some tests are for root alone, some for everybody else. A project that skips more has lost what it needs.
const MOST_SKIPPED = 0.05;

/** Everything that keeps a run of the suite from counting as passed, one fault in each line; none if it has passed. */
export function judgeSuite({ reason, errors, projects }: SuiteResult, count: TestCount): readonly string[] {
  const all = Object.entries(projects);
  return [
    ...(reason === "passed" ? [] : [`the run ended as ${reason}`]),
    ...errors.map((error) => `error outside of the tests: ${error}`),
    ...all.flatMap(([, { failed }]) => failed.map((test) => `failed: ${test}`)),
    ...all.flatMap(([, { skipped }]) =>
      skipped.filter(({ reason: why }) => why === null).map(({ test }) => `skipped without a reason: ${test}`),
    ),
    ...Object.entries(count).flatMap(([name, least]) => {
      const { passed = 0, failed = [], skipped = [] } = projects[name] ?? {};
      const ran = passed + failed.length + skipped.length;
      if (ran < least) return [`${name}: ${ran} tests, expected at least ${least} (npm run test:count)`];
      return skipped.length > ran * MOST_SKIPPED ? [`${name}: ${skipped.length} of ${ran} tests were skipped`] : [];
    }),
  ];
}

/** One line with the numbers of all projects together. */
export function suiteSummary({ projects }: SuiteResult): string {
  const sum = (numberOf: (result: SuiteResult["projects"][string]) => number): number =>
    Object.values(projects).reduce((total, result) => total + numberOf(result), 0);
  const passed = sum((result) => result.passed);
  return `Tests: ${passed} passed, ${sum(({ failed }) => failed.length)} failed, ${sum(({ skipped }) => skipped.length)} skipped`;
}
