import { expect, test } from "vitest";
import type { Diagnostic } from "../../../src/core/diagnostic.ts";
import { diagnosticsText } from "../../../src/render/diagnostics.ts";

const view = { paint: (_: string, text: string) => text, excerptOf: () => null };

function warning(file: string, code: string, summary: string): Diagnostic {
  return { severity: "warning", code, summary, detail: null, file, line: 1, column: 1 };
}

test("documents that are not managed are one line for each type, and other warnings one for each place", () => {
  const text = diagnosticsText(
    [
      warning("c.yaml", "unknown-type", "the type `gateway` is not managed"),
      warning("b.yaml", "unknown-type", "the type `server` is not managed (3 documents)"),
      warning("a.yaml", "unknown-type", "the type `server` is not managed"),
      warning("a.yaml", "out-of-range", "`name` is long"),
      warning("b.yaml", "out-of-range", "`name` is long"),
    ],
    view,
  );
  expect(text.split("\n").filter(Boolean)).toEqual([
    "a.yaml:1:1: warning: `name` is long [out-of-range]",
    "a.yaml:1:1: warning: the type `server` is not managed; the same in 1 more file [unknown-type]",
    "b.yaml:1:1: warning: `name` is long [out-of-range]",
    "c.yaml:1:1: warning: the type `gateway` is not managed [unknown-type]",
  ]);
});
