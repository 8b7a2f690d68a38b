import { describe, expect, test } from "vitest";
import { lineFinder } from "../../../src/yaml/locator.ts";
import { parsed } from "./parsed.ts";

/** Where each fault of a text is, and what it is, in few words. */
function slipsIn(text: string): readonly string[] {
  const at = lineFinder(text);
  const faults = parsed(text).documents.flatMap((document) => document.faults);
  return faults.map(({ offset, summary }) => {
    const { line, column } = at(offset);
    return `${line}:${column} ${summary.replace("not valid YAML: ", "")}`;
  });
}

describe("what is left open is told where it was opened", () => {
  test.each([
    ["a: [1, 2\nb: 3\n", "1:4 a `[` that is never closed"],
    ["a: {b: 1\nc: 2\n", "1:4 a `{` that is never closed"],
    ["a: [1, {b: 2]\nc: 3\n", "1:8 a `{` that is never closed"],
    ["a: [1, [2, 3]\nb: 4\n", "1:4 a `[` that is never closed"],
    ["# it's [\na: [1 # ]\nb: 3\n", "2:4 a `[` that is never closed"],
    ["a: \"[\"\nb: '{'\nc: it's [\nd: [1\ne: 2\n", "4:4 a `[` that is never closed"],
    ['a: |\n  [ "\n  {\nb: [1\nc: 2\n', "4:4 a `[` that is never closed"],
    ["- |\n  [\n- {a: 1\n- b\n", "3:3 a `{` that is never closed"],
    ["a: 'it''s'\nb: \"x\\\" \nc: 1\n", "2:4 a quote that is never closed"],
    ["a:\n  - 'x\nb: 1\n", "2:5 a quote that is never closed"],
  ])("%j", (text, slip) => {
    expect(slipsIn(text)[0]).toBe(slip);
  });
});

describe("what stands in the wrong place is told by itself", () => {
  test.each([
    ["a: 1\n  b: 2\n", "2:3 a line that is indented too far"],
    ["a:\n- b\n- c\n  d: 1\n", "4:3 a line that is indented too far"],
    ["a:\n  b: 1\n c: 2\n", "3:2 an indentation that matches no line above"],
    ["- a\nb: c\n", "2:1 a line that belongs to nothing above"],
    ["a: b: c\n", "1:5 a second `: ` in one line"],
    ["a:b\nc: d\n", "1:3 no space after a `:`"],
    ["a\nb: c\n", "1:1 a line without a `:`"],
    ["a: b\nc\nd: e\n", "2:1 a line without a `:`"],
    ["a\n  b: c\n", "1:1 a line without a `:`"],
    ["a: - b\n", "1:4 a list in the line of its key"],
    ['a: "b" c\n', "1:8 more after the end of a value"],
    ["a: [b]]\n", "1:7 a closing bracket without its opening one"],
    ["a: [{b: 1} {c: 2}]\n", "1:12 no comma between two items"],
    ["a: [{b: 1} c]\n", "1:12 no comma between two items"],
    ["a:\n\tb: 1\n", "2:1 a tab where the indentation is"],
    ["a: {{ b }}\n", "1:5 a template (`{{ … }}`)"],
    ["a: 1\n{% if x %}\nb: 2\n{% endif %}\n", "2:1 a template (`{% … %}`)"],
    ["a:\n  {%- for x in y %}\n  - {{ x }}\n  {%- endfor %}\n", "2:3 a template (`{% … %}`)"],
    ["a: {% if x %}1{% endif %}\n", "1:4 a template (`{% … %}`)"],
    ["{# a comment #}\na: 1\n", "1:1 a template (`{# … #}`)"],
    ["{{- if .Values.x }}\na: 1\n{{- end }}\n", "1:1 a template (`{{ … }}`)"],
  ])("%j", (text, slip) => {
    expect(slipsIn(text)[0]).toBe(slip);
  });
});

test("one mistake in a line is one fault", () => {
  expect(slipsIn("- a\nb: c\n")).toHaveLength(1);
  expect(slipsIn("a: 1\n  b: 2\n")).toHaveLength(1);
  expect(slipsIn("{% for x in y %}\na: 1\nb:\n  - c\n{% endfor %}\n")).toHaveLength(1);
});
