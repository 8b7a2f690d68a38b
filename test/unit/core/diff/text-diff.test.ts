import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { textDiff, unifiedDiff } from "../../../../src/core/diff/text-diff.ts";
import { processorMs } from "../../../support/processor-time.ts";

const numbered = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}`).join("\n");

/** The text that a diff makes of another. */
function patched(before: string, diff: string): string | false {
  return applyPatch(before, `--- a\n+++ b\n${diff}`);
}

test("a diff makes the one text of the other, whatever they are", () => {
  const text = fc.array(fc.constantFrom("a", "b", "", "-c", "+d", "\\ No newline at end of file"), { maxLength: 12 });
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [before, after] = [`x\n${a.join("\n")}`, `x\n${b.join("\n")}`];
      if (before === after) return;
      expect(patched(before, textDiff(before, after) ?? "")).toBe(after);
    }),
    { numRuns: 500 },
  );
});

test("S40 a text of ten thousand changed lines is one hunk, and soon", () => {
  const [before, after] = [`head\n${numbered(10_000, "a")}\ntail`, `head\n${numbered(10_000, "b")}\ntail\n`];
  const from = processorMs();
  const diff = textDiff(before, after) ?? "";
  expect(processorMs() - from).toBeLessThan(1000);
  expect(diff.match(/^@@/gm)).toHaveLength(1);
  expect(patched(before, diff)).toBe(after);
});

test("a text with more than 200 changed lines is one hunk between what is alike", () => {
  const between = (word: string, count: number) =>
    `${numbered(5, "head")}\n${numbered(count, word)}\n${numbered(5, "tail")}\n`;
  const lines = (textDiff(between("a", 101), between("b", 102)) ?? "").split("\n");
  expect([...lines.slice(0, 5), ...lines.slice(103, 106), ...lines.slice(-5)]).toEqual([
    ...["@@ -3,107 +3,108 @@", " head 2", " head 3", " head 4", "-a 0"],
    ...["-a 99", "-a 100", "+b 0"],
    ...["+b 101", " tail 0", " tail 1", " tail 2", ""],
  ]);
  expect(lines).toHaveLength(211);
});

test.each<[string, string, string, string]>([
  ["at its end", "a\n".repeat(300), "a\n".repeat(501), "@@ -298,3 +298,204 @@"],
  ["from its end", "a\n".repeat(501), "a\n".repeat(300), "@@ -298,204 +298,3 @@"],
  ["at its beginning", "a\nb\n", `${numbered(201, "c")}\na\nb\n`, "@@ -1,2 +1,203 @@"],
  ["as a whole", `${numbered(101, "a")}\n`, `${numbered(100, "b")}\n`, "@@ -1,101 +1,100 @@"],
])("many lines that change %s are one hunk with the lines around it", (_, before, after, header) => {
  const diff = textDiff(before, after) ?? "";
  expect(diff.match(/^@@.*$/gm)).toEqual([header]);
  expect(patched(before, diff)).toBe(after);
});

test("up to 200 changed lines are told one by one", () => {
  const lines = (word: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${word} ${at}\n${numbered(8, `same ${at}`)}\n`).join("");
  const hunks = (count: number) => textDiff(lines("a", count), lines("b", count))?.match(/^@@/gm);
  expect(hunks(100)).toHaveLength(100);
  expect(hunks(101)).toHaveLength(1);
});

test("S40 lines in another order are told within bounds", () => {
  const lines = numbered(4000, "a").split("\n");
  const [before, after] = [lines.join("\n"), lines.toReversed().join("\n")];
  const from = processorMs();
  expect(patched(before, textDiff(before, after) ?? "")).toBe(after);
  expect(processorMs() - from).toBeLessThan(2000);
});

test("S40 a megabyte on one line has no diff", () => {
  expect(textDiff("x".repeat(2 ** 20), `${"x".repeat(2 ** 20)}y`)).toBeNull();
  const [long, longer] = ["x".repeat(2 ** 18), "x".repeat(2 ** 18 + 1)];
  expect([textDiff("a", longer), textDiff(longer, "a")]).toEqual([null, null]);
  expect(textDiff(long, "a")).toMatch(/^@@ -1,1 \+1,1 @@\n-x/);
  expect(textDiff("a", long)).toMatch(/^@@ -1,1 \+1,1 @@\n-a/);
});

test("a short text, and what is no text, has no diff", () => {
  expect([textDiff("a", "b"), textDiff(1, 2), textDiff(null, "a\nb")]).toEqual([null, null, null]);
  expect([textDiff("a\nb", null), textDiff("a".repeat(80), "b".repeat(80))]).toEqual([null, null]);
  expect(textDiff("a\nb\n", "b")).toBe("@@ -1,2 +1,1 @@\n-a\n-b\n+b\n\\ No newline at end of file\n");
  expect(textDiff("a", "x".repeat(100))).toBe(
    `@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+${"x".repeat(100)}\n\\ No newline at end of file\n`,
  );
});

test("a diff of a file names it, and that it is new", () => {
  expect(unifiedDiff("teams/ml.yaml", "a: 1\n", "a: 2\n")).toBe(
    "--- a/teams/ml.yaml\n+++ b/teams/ml.yaml\n@@ -1,1 +1,1 @@\n-a: 1\n+a: 2\n",
  );
  expect(unifiedDiff("teams/ml.yaml", "", "a: 2\n")).toMatch(
    /^--- \/dev\/null\n\+\+\+ b\/teams\/ml\.yaml\n@@ .* \+1,1 @@\n\+a: 2\n$/,
  );
});
