import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsed } from "./parsed.ts";
import { runs, seed, timeout } from "./texts.ts";

describe(`both readers together (SEED=${seed})`, () => {
  test("read JSON as JSON.parse reads it, in both kinds of files", { timeout }, () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.constantFrom("", "  ", "\t"),
        fc.constantFrom("json" as const, "yaml" as const),
        (value, indent, format) => {
          const text = JSON.stringify(value, null, indent);
          const { documents } = parsed(text, format);
          const errors = documents.flatMap(({ faults }) => faults.filter(({ severity }) => severity === "error"));
          if (errors.length > 0) {
            const allowed = ["unsafe-integer", "not-finite", "control-character", "encoding", "invisible-character"];
            // JSON allows longer keys than YAML has on one line, and "<<" is an ordinary key there as well.
            expect([...allowed, ...(format === "yaml" ? ["syntax"] : [])]).toEqual(
              expect.arrayContaining(errors.map(({ code }) => code)),
            );
          } else expect(JSON.stringify(documents[0]?.value)).toBe(JSON.stringify(JSON.parse(text)));
        },
      ),
      runs(0.5),
    );
  });
});

describe("texts on which parsers differ go to the exact reader", () => {
  test.each([
    ["a: &x b: 1\n", "refused"],
    ["---\n\ta: 1\n", "refused"],
    ["  ---\na: 1\n", "refused"],
    ["a: |1\n  x\n", { a: " x\n" }],
    ["a:\n- {b: 1} c: 2\n", "refused"],
    ["a:\n  b:\n  - 'x'c: 2\nd: 1\n", "refused"],
    ["a:\n- [b] ? c\n", "refused"],
  ])("%j", (text, expected) => {
    const [document] = parsed(text).documents;
    expect(document?.faults.length === 0 ? document.value : "refused").toEqual(expected);
  });
});
