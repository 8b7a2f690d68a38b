import { describe, expect, test } from "vitest";
import {
  countMutants,
  type MutantResult,
  percentOf,
  percentText,
  scoreTable,
  survivorList,
} from "../mutations/score/folder-score.ts";

const source = "function small(count: number) {\n  return count < 10\n    && count > 0;\n}\n";
const mutant = (fileName: string, status: string): MutantResult => ({
  ...{ fileName, status, mutatorName: "EqualityOperator", replacement: "count >= 10" },
  location: { start: { line: 2, column: 10 }, end: { line: 2, column: 20 } },
});
const results = ["Killed", "Killed", "Timeout", "Survived", "NoCoverage", "Ignored"].map((status) =>
  mutant("a/x.ts", status),
);

describe("the score of a folder", () => {
  test("is the part of its mutants that were killed or timed out, without those that were not tried", () => {
    const score = countMutants("a", results);
    expect(score).toEqual({ folder: "a", killed: 2, timedOut: 1, survived: 1, notCovered: 1, notTried: 1 });
    expect(percentOf(score)).toBe(60);
  });

  test("is never shown as a goal that it misses", () => {
    expect([89.999, 90, 100].map(percentText)).toEqual(["89.9 %", "90.0 %", "100.0 %"]);
  });

  test("takes the place of its earlier row, and leaves those of other folders", () => {
    const score = countMutants("a", results);
    const table = scoreTable("", [{ ...score, folder: "b" }, score], "2026-01-01");
    expect(
      scoreTable(table, [{ ...score, survived: 0, notCovered: 0 }], "2026-01-02")
        .split("\n")
        .slice(2),
    ).toEqual([
      "| `a` | 3 | 2 | 1 | 0 | 0 | 1 | 100.0 % | 2026-01-02 |",
      "| `b` | 5 | 2 | 1 | 1 | 1 | 1 | 60.0 % | 2026-01-01 |",
    ]);
  });
});

test("the list of survivors has those of a folder in place of its earlier ones", () => {
  const earlier = "a/b/z.ts:1 kept\na/x.ts:9 gone\nb/y.ts:3 kept\n";
  const long = {
    ...mutant("a/x.ts", "NoCoverage"),
    location: { start: { line: 2, column: 10 }, end: { line: 3, column: 17 } },
  };
  expect(survivorList(earlier, "a", [...results.slice(0, 4), long], () => source)).toBe(
    [
      "a/b/z.ts:1 kept",
      "a/x.ts:2 EqualityOperator: count < 10 → count >= 10",
      "a/x.ts:2 EqualityOperator, not covered: count < 10 && count > 0 → count >= 10",
      "b/y.ts:3 kept\n",
    ].join("\n"),
  );
});
