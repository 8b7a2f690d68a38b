import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { Diagnostic } from "../../../src/core/diagnostic.ts";
import { diagnosticsText } from "../../../src/render/diagnostics.ts";
import { failureText } from "../../../src/render/failure.ts";
import { coloured } from "../../../src/render/paint.ts";
import { columnsOf } from "../../../src/render/text-width.ts";

const view = { paint: (_: string, text: string) => text, width: 80, excerptOf: () => null };

function warning(file: string, code: string, summary: string): Diagnostic {
  return { severity: "warning", code, summary, detail: null, file, line: 1, column: 1 };
}

test("documents that are not managed are one line for each type, and other warnings one for each place", () => {
  const text = diagnosticsText(
    [
      { ...warning("c.yaml", "unknown-type", "the type `gateway` is not managed"), documents: 2 },
      { ...warning("b.yaml", "unknown-type", "the type `server` is not managed"), documents: 3 },
      warning("a.yaml", "unknown-type", "the type `server` is not managed"),
      warning("a.yaml", "out-of-range", "`name` is long"),
      warning("b.yaml", "out-of-range", "`name` is long"),
    ],
    { ...view, width: 120 },
  );
  expect(text.split("\n").filter(Boolean)).toEqual([
    "a.yaml:1:1: warning: `name` is long [out-of-range]",
    "a.yaml:1:1: warning: the type `server` is not managed; the same in 1 more file [unknown-type]",
    "b.yaml:1:1: warning: `name` is long [out-of-range]",
    "c.yaml:1:1: warning: the type `gateway` is not managed (2 documents) [unknown-type]",
  ]);
});

describe("no line is wider than the terminal", () => {
  const path = `manifests/${"team folder/".repeat(6)}services.yaml`;
  const long: Diagnostic = {
    severity: "error",
    code: "unknown-field",
    summary: `unknown field \`${"a".repeat(200)}\` of a service; did you mean one of the other fields that it has`,
    detail: "To send it all the same, set `unknownFields: warn` in holdfast.yaml, which is where it belongs.",
    file: "a.yaml",
    line: 12,
    column: 3,
  };
  const excerptOf = () => ({ line: `replica: ${"漢字".repeat(30)}`, column: 10 });

  test.each([40, 80, 120])("of a diagnostic, in %i columns", (width) => {
    const text = diagnosticsText([long], { paint: coloured, width, excerptOf });
    const lines = stripVTControlCharacters(text).trimEnd().split("\n");
    for (const line of lines) expect([line, columnsOf(line) <= width]).toEqual([line, true]);
    expect(lines[0]).toMatch(/^a\.yaml:12:3: error: unknown/);
    expect(lines.join(" ").replaceAll(/\s+/g, " ")).toContain("of a service; did you mean one of the other fields");
    expect(lines.join("\n")).toMatch(/`a+…a+`/);
    expect(lines.at(-1)).toMatch(/^ {4}\S/);
  });

  test("but for a position, which stays whole", () => {
    const text = diagnosticsText([{ ...long, file: path, summary: "it is broken" }], view);
    expect(text.split("\n")[0]).toBe(`${path}:12:3:`);
    expect(text.split("\n")[1]).toBe("  error: it is broken [unknown-field]");
  });

  test("of an error and of what to do now, whose commands stay whole", () => {
    const fetch = `git fetch origin ${"1a2b3c4d".repeat(5)}`;
    const message = `the base ${"x".repeat(300)} is not in this clone, which has only the newest commits of its branch`;
    const text = failureText({ message, hint: `the history is cut off: run ${fetch} first` }, 60);
    expect(text.replaceAll(/\s+/g, " ")).toContain(`run ${fetch} first`);
    for (const line of text.split("\n")) expect([line, columnsOf(line) <= 60]).toEqual([line, true]);
    expect(text).toMatch(/^error: the base\n {2}x+…x+\n {2}is not in this clone[\s\S]*\n {2}→ the history/);
  });
});
