import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { equal, type Json } from "../../../src/contract/json.ts";
import { changeOf } from "../../../src/core/diff/change.ts";
import { textDiff } from "../../../src/core/diff/text-diff.ts";
import type { Change } from "../../../src/core/plan/plan.ts";
import { changeLines, changeSummary } from "../../../src/render/change.ts";
import { fieldDiff } from "../../../src/render/markdown/field-diff.ts";
import { plain } from "../../../src/render/paint.ts";
import { showSides } from "../../../src/render/show-value.ts";

const changed = (before: Json, after: Json): Change => ({
  path: "/env/A",
  label: "env.A",
  before,
  after,
  cause: "manifest",
  diff: textDiff(before, after),
});
const linesOf = (before: Json, after: Json) =>
  changeLines([changed(before, after)], { paint: plain, width: 80, by: null }).map((line) => line.trimEnd());
const markdownOf = (before: Json, after: Json) => fieldDiff([changed(before, after)]).map((line) => line.trimEnd());

describe("two different values never look equal", () => {
  test.each([
    ["blanks at the end", "a", "a ", /"a" → "a "/],
    ["a letter of another script", "api", "\u0430pi", /"api" → "\\u0430pi"/],
    ["a composed and a decomposed letter", "caf\u00e9", "cafe\u0301", /"caf\\u00e9" → "cafe\\u0301"/],
    ["a no-break space", "a b", "a\u00a0b", /\\u00a0/],
    ["a dash", "a-b", "a\u2010b", /\\u2010/],
    ["a zero-width space", "ab", "a\u200bb", /\\u200b/],
    ["a Greek letter", "visa", "\u03bdisa", /\\u03bdisa/],
    ["two letters of scripts other than Latin", "\u043eme", "\u03bfme", /"\\u043eme" → "\\u03bfme"/],
    ["a letter of Armenian", "oslo", "\u0585slo", /\\u0585slo/],
    ["a letter of Cherokee", "ALPHA", "\u13aaLPHA", /\\u13aaLPHA/],
    ["full-width letters", "api", "\uff41\uff50\uff49", /\\uff41\\uff50\\uff49/],
    ["a mathematical letter", "api", "\ud835\udc1api", /\\ud835\\udc1api/],
    ["a dotless letter", "mail", "ma\u0131l", /ma\\u0131l/],
    ["a digit of another script", "v1", "v\u0661", /v\\u0661/],
    ["a slash of another block", "a/b", "a\u2215b", /a\\u2215b/],
    ["a filler", "ab", "a\u3164b", /\\u3164/],
    ["a blank symbol", "ab", "a\u2800b", /\\u2800/],
    ["a variation selector", "\u2764", "\u2764\ufe0f", /"\\u2764" → "\\u2764\\ufe0f"/],
    ["a reserved code point without width", "ab", "a\u2065b", /\\u2065/],
    ["a number and a text", 1, "1", /1 → "1"/],
    ["masked values", "(sensitive)", "(sensitive)", /\(sensitive\) → \(sensitive, changed\)/],
  ])("with %s", (_, before, after, expected) => {
    const [line = ""] = linesOf(before, after);
    expect(line).toMatch(expected);
    const [was, is] = markdownOf(before, after).slice(-2);
    expect(was?.slice(1)).not.toBe(is?.slice(1));
    expect(changeSummary(changed(before, after))).toMatch(expected);
  });

  test.each([
    ["Müller", "Mueller"],
    ["cafe", "café"],
    ["猫", "犬"],
    ["привет", "привод"],
    ["schön", "schon"],
    ["👍", "👎"],
  ])("and %s is shown as it is beside %s", (before, after) => {
    expect(changeSummary(changed(before, after))).toMatch(new RegExp(`${before}"? → "?${after}`));
  });

  const secret = (n: number) => `postgres://app:CANARY${n}@db/app`;
  const argument = (n: number) => [`--db=${secret(n)}`, "--verbose"];
  test.each<readonly [string, Json, Json, string]>([
    ["in a list", ["a", secret(1), secret(2)], ["a", secret(1), secret(3)], '"(sensitive)","(sensitive, changed)"]'],
    [
      "in an object in a list",
      [{ password: "CANARY1" }],
      [{ password: "CANARY2" }],
      '"password":"(sensitive, changed)"',
    ],
    [
      "in a list of lists",
      [argument(1), argument(2)],
      [argument(1), argument(3)],
      '["(sensitive, changed)","--verbose"]',
    ],
    [
      "in a list in another order",
      [secret(1), secret(2)],
      [secret(2), secret(1)],
      '["(sensitive, changed)","(sensitive, changed)"]',
    ],
    ["at the end of a list", [secret(1)], [secret(1), secret(2)], '["(sensitive)","(sensitive)"]'],
  ])("with secrets %s", (_, before, after, expected) => {
    const found = { tokens: ["env", "A"], before, after, sensitive: false };
    const shape = { is: "free" } as const;
    const change = changeOf(found, "manifest", {
      shape,
      manifest: { env: { A: after } },
      live: { env: { A: before } },
    });
    const text = changeLines([change], { paint: plain, width: 200, by: null }).join("\n");
    const [was = "", is = ""] = text.replace(/^.*env\.A +/, "").split(" → ");
    expect(was).not.toContain("changed");
    expect(is).toContain(expected);
    expect(was).not.toBe(is);
    const markdown = fieldDiff([change]).join("\n");
    expect(markdown).toContain(expected.includes("changed") ? "(sensitive, changed)" : "(sensitive)");
    expect(JSON.stringify([change, text, markdown])).not.toContain("CANARY");
  });

  test("in lines of a text", () => {
    const text = (line: string) => `first\n${line}\nlast\n`;
    for (const [before, after, shown] of [
      ["x", "x  ", "x\\u0020\\u0020"],
      ["api", "\u0430pi", "\\u0430pi"],
      [`${"y".repeat(500)}a`, `${"y".repeat(500)}b`, "yb"],
    ] as const) {
      for (const lines of [linesOf(text(before), text(after)), markdownOf(text(before), text(after))]) {
        const [was, is] = ["-", "+"].map((mark) => lines.find((line) => line.trimStart().startsWith(`${mark}`)) ?? "");
        expect(was?.trimStart().slice(1)).not.toBe(is?.trimStart().slice(1));
        expect(is).toContain(shown);
      }
    }
    for (const lines of [linesOf("a\nb\n", "a\nb"), markdownOf("a\nb\n", "a\nb")]) {
      expect(lines.join("\n")).toContain("\\ No newline at end of file");
    }
  });

  test("however long they are, where they differ", () => {
    const long = "z".repeat(9000);
    for (const [before, after] of [
      [`${long}1`, `${long}2`],
      [{ a: `${long}1` }, { a: `${long}2` }],
      [`https://h/${"p".repeat(60)}1`, `https://h/${"p".repeat(60)}2`],
    ] satisfies [Json, Json][]) {
      const summary = changeSummary({ ...changed(before, after), diff: null });
      const [was = "", is = ""] = summary.replace(/^\S+ /, "").split(" → ");
      expect(was).not.toBe(is);
    }
  });

  test("in long lists and objects, with the lines around the difference", () => {
    const list = (changed: Json) => Array.from({ length: 300 }, (_, at) => (at === 250 ? changed : `--option-${at}`));
    const object = (changed: Json) => [Object.fromEntries(list(changed).map((value, at) => [`k${at}`, value]))];
    for (const [before, after] of [
      [list("old"), list("new")],
      [list("old"), list("old").toSpliced(251, 0, "new")],
      [object("old"), object("new")],
      [list("old"), "new"],
      [[], ["new"]],
    ] satisfies [Json, Json][]) {
      const markdown = markdownOf(before, after);
      expect(markdown.filter((line) => /^\+.*"?new"?$/.test(line))).toHaveLength(1);
      expect(markdown.length).toBeLessThan(20);
    }
  });

  test("whatever they are", () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string({ unit: "grapheme" }),
      fc.string({
        unit: fc.constantFrom(
          "a",
          "\u0430",
          "\uff41",
          "\u3164",
          "\ufe0f",
          "\u2764",
          " ",
          "\u00a0",
          "\u200b",
          "\n",
          "e\u0301",
          "\u00e9",
          "-",
          "\u2010",
        ),
      }),
    );
    fc.assert(
      fc.property(value, value, (before, after) => {
        fc.pre(!equal(before as Json, after as Json));
        const [was, is] = showSides(before as Json, after as Json);
        expect(was.trimEnd().normalize("NFKC")).not.toBe(is.trimEnd().normalize("NFKC"));
      }),
      { numRuns: 2000 },
    );
  });
});
