import { describe, expect, test } from "vitest";
import { textDiff } from "../../../src/core/diff/text-diff.ts";
import type { Change } from "../../../src/core/plan/plan.ts";
import { changeLines, changeSummary } from "../../../src/render/change.ts";
import { plain } from "../../../src/render/paint.ts";
import { columnsOf } from "../../../src/render/text-width.ts";
import { processorMs } from "../../support/processor-time.ts";
import { runnerCommandsIn } from "../../support/runner-commands.ts";

const WIDTH = 80;
/** Far more than it takes, and far less than a quadratic algorithm would. */
const MAX_MS = 3000;
const MAX_LINES = 45;

const megabyte = 2 ** 20;
const hostile = [
  "\u001b[31mred\u001b]0;title\u0007",
  "\u202eright to left\u2066",
  "`rm -rf /` ```",
  "::error file=a::b",
  "##vso[task.setvariable variable=a]b",
  "\u200bzero\u00adwidth\r",
];

const lines = (count: number, text: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at)).join("\n");

const texts: readonly (readonly [what: string, before: string, after: string])[] = [
  [
    "escape sequences, bidi, back-ticks and workflow commands",
    `${hostile.join("\n")}\nold`,
    `${hostile.toReversed().join("\n")}\nnew`,
  ],
  ["hostile text on one line", `${hostile.join(" ")} old`.repeat(20), `${hostile.join(" ")} new`.repeat(20)],
  ["a megabyte on one line", `${"a ".repeat(megabyte / 2)}b`, `${"a ".repeat(megabyte / 2)}c`],
  ["a megabyte of escape characters", "\u001b".repeat(megabyte), `${"\u001b".repeat(megabyte)}c`],
  ["ten thousand changed lines", lines(10_000, (at) => `old ${at}`), lines(10_000, (at) => `new ${at}`)],
  [
    "every second of ten thousand lines",
    lines(10_000, (at) => `${at}`),
    lines(10_000, (at) => (at % 2 ? `${at}` : `x${at}`)),
  ],
  ["ten thousand equal lines, some fewer", "same\n".repeat(10_000), "same\n".repeat(9_000)],
  ["long lines of many words", lines(60, () => "a b ".repeat(1000)), lines(60, () => "b a ".repeat(1000))],
];

describe("a diff of hostile text is escaped, and bounded in size and time", () => {
  test.each(texts)("%s", (_, before, after) => {
    const began = processorMs();
    const diff = textDiff(before, after);
    const change: Change = { path: "/a", label: "messages[0].content", before, after, cause: "manifest", diff };
    const shown = changeLines([change], { paint: plain, width: WIDTH, by: null });
    const summary = changeSummary(change);
    expect(processorMs() - began).toBeLessThan(MAX_MS);
    expect(shown.length).toBeLessThan(MAX_LINES);
    for (const line of shown) expect(columnsOf(line)).toBeLessThanOrEqual(WIDTH);
    const text = [...shown, summary].join("\n");
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(runnerCommandsIn(text)).toEqual([]);
    // JSON holds the diff: no more of it than of the texts themselves.
    expect(diff?.length ?? 0).toBeLessThanOrEqual(2 * (before.length + after.length) + 1000);
  });
});
