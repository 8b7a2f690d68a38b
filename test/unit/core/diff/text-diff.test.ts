import { applyPatch } from "diff";
import fc from "fast-check";
import { expect, test } from "vitest";
import { textDiff } from "../../../../src/core/diff/text-diff.ts";
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

test("S40 lines in another order are told within bounds", () => {
  const lines = numbered(4000, "a").split("\n");
  const [before, after] = [lines.join("\n"), lines.toReversed().join("\n")];
  const from = processorMs();
  expect(patched(before, textDiff(before, after) ?? "")).toBe(after);
  expect(processorMs() - from).toBeLessThan(2000);
});

test("S40 a megabyte on one line has no diff", () => {
  expect(textDiff("x".repeat(2 ** 20), `${"x".repeat(2 ** 20)}y`)).toBeNull();
});

test("a short text, and what is no text, has no diff", () => {
  expect([textDiff("a", "b"), textDiff(1, 2), textDiff(null, "a\nb")]).toEqual([null, null, null]);
  expect(textDiff("a", "x".repeat(100))).toBe(
    `@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+${"x".repeat(100)}\n\\ No newline at end of file\n`,
  );
});
