/** A test of a finished run. */
export type RanTest = {
  readonly project: string;
  /** Its file and full name. */
  readonly test: string;
  readonly state: string;
  /** Why it was skipped; null where it does not say, and for other tests. */
  readonly note: string | null;
  readonly milliseconds: number;
};

/** The tests that took longest, one in each line, slowest first. */
export function slowestTests(tests: readonly RanTest[], count: number): readonly string[] {
  return tests
    .toSorted((a, b) => b.milliseconds - a.milliseconds)
    .slice(0, count)
    .map(
      ({ project, test, milliseconds }) => `  ${(milliseconds / 1000).toFixed(1).padStart(5)} s  ${project}  ${test}`,
    );
}
