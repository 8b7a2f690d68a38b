import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { globMatcher } from "../../../src/model/glob.ts";
import { matcherOf, type PatternPart } from "../../../src/model/pattern-matcher.ts";
import { processorMs } from "../../support/processor-time.ts";

/** What matching means, tried out one way after the other. */
function matches([part, ...rest]: readonly PatternPart[], text: string): boolean {
  if (part === undefined) return text === "";
  const [first = "", tail] = [text.slice(0, 1), text.slice(1)];
  const isOther = first !== "" && first !== "/";
  switch (part.is) {
    case "text":
      return text.startsWith(part.text) && matches(rest, text.slice(part.text.length));
    case "one":
      return isOther && matches(rest, tail);
    case "class":
      return isOther && part.has(first) && matches(rest, tail);
    case "some":
      return matches(rest, text) || (isOther && matches([part, ...rest], tail));
    case "all":
      return matches(rest, text) || (first !== "" && matches([part, ...rest], tail));
    case "folders": {
      const ends = Array.from(text.matchAll(/\//g), ({ index }) => index + 1);
      return [0, ...ends].some((end) => matches(rest, text.slice(end)));
    }
  }
}

const has = (character: string) => character === "a" || character === "é";
const slash: PatternPart = { is: "text", text: "/" };
const parts = fc
  .array(
    fc.constantFrom<readonly PatternPart[]>(
      [slash],
      [{ is: "one" }],
      [{ is: "some" }],
      [{ is: "all" }],
      [{ is: "class", has }],
      [slash, { is: "folders" }],
      [slash, { is: "folders" }, { is: "folders" }],
      ...["a", "b", "é", "ab", "b/a", "b".repeat(31)].map((text): readonly PatternPart[] => [{ is: "text", text }]),
    ),
    { maxLength: 7 },
  )
  .map((groups) => groups.flat());
const text = fc
  .array(fc.constantFrom("a", "b", "/", "é", "c", "b".repeat(31)), { maxLength: 9 })
  .map((all) => all.join(""));

describe("a pattern", () => {
  test("matches what it says, however long it is", () => {
    fc.assert(
      fc.property(parts, text, (pattern, given) => {
        expect(matcherOf(pattern)(given)).toBe(matches(pattern, given));
      }),
      { numRuns: 300 },
    );
  });

  test("S43 takes a time that grows with the text and not with the ways through it", () => {
    const texts = ["a".repeat(4000), "a/".repeat(2000), `${"ab/".repeat(1300)}!`];
    const globs = ["*a".repeat(16), "**/".repeat(170), "**a".repeat(10), "**/a*a/".repeat(10), "?*".repeat(16)];
    const started = processorMs();
    for (const matches of globs.map((glob) => globMatcher(`${glob}*?`))) for (const given of texts) matches(given);
    expect(processorMs() - started).toBeLessThan(1000);
  });
});

describe("folders in a glob", () => {
  test.each([
    ["a/**/b", "a/b", true],
    ["a/**/b", "a/x/y/b", true],
    ["a/**/**/**/b", "a/b", true],
    ["a**/b", "ab", false],
    ["a**/b", "ax/y/b", true],
    ["**/**/b", "x/b", true],
    ["a/**", "a", false],
  ])("S43 %s on %s is %s", (glob, given, expected) => expect(globMatcher(glob)(given)).toBe(expected));
});
