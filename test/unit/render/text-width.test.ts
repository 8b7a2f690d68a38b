import { expect, test } from "vitest";
import { columnsOf, cutEnd, padColumns } from "../../../src/render/text-width.ts";

test.each([
  ["replicas", 8],
  ["→…○·", 4],
  ["e\u0301", 1],
  ["日本", 4],
  ["한", 2],
  ["カー", 4],
  ["（ａ）", 6],
  ["☕✅⚡", 6],
  ["🚀", 2],
  ["𠀀", 2],
])("%s takes %i columns", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
  expect(padColumns(text, 10).length - text.length).toBe(10 - columns);
});

test("a text that is cut is never wider than allowed", () => {
  for (let columns = 1; columns < 8; columns += 1)
    expect(columnsOf(cutEnd("a☕✅日本", columns))).toBeLessThanOrEqual(columns);
});
