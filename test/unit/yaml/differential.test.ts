import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../../src/source/limits.ts";
import { type Built, build } from "../../../src/yaml/build.ts";
import { doubtOf } from "../../../src/yaml/document.ts";
import { parseExact } from "../../../src/yaml/exact.ts";
import { parseFast } from "../../../src/yaml/js-yaml.ts";
import { splitDocuments } from "../../../src/yaml/split.ts";
import type { Parsed } from "../../../src/yaml/stream.ts";
import { decode } from "../../../src/yaml/text.ts";
import { parsed } from "./parsed.ts";
import { corpus, during, seed, texts, timeout } from "./texts.ts";

type Verdict = "nothing" | "refused" | { readonly built: Built };

function verdict(found: Parsed): Verdict {
  if ("faults" in found) return "refused";
  if (found.stream === null) return "nothing";
  const built = build(found.stream, defaultLimits, { looksOdd: true, room: { left: defaultLimits.fileBytes } });
  return built.faults.some(({ severity }) => severity === "error") ? "refused" : { built };
}

/** Whether a document could be a manifest at all: a mapping. */
function isMapping(found: Verdict): boolean {
  return typeof found === "object" && typeof found.built.value === "object" && found.built.value !== null;
}

function expectAgreement(text: string): void {
  const decoded = decode(Buffer.from(text));
  if ("fault" in decoded || /^%/m.test(decoded.text)) return;
  for (const chunk of splitDocuments(decoded.text)) {
    const [fast, exact] = [parseFast(chunk.text, 64), parseExact(chunk.text)];
    if (exact === null || doubtOf(fast, chunk.text) !== null) continue;
    const [ours, theirs] = [verdict(fast), verdict(exact)];
    if (!isMapping(ours) && !isMapping(theirs)) continue;
    const values = [ours, theirs].map((each) => typeof each === "object" && each.built.value);
    expect(values[0]).toEqual(values[1]);
  }
}

describe(`the two parsers (SEED=${seed})`, () => {
  test("agree on the whole corpus wherever the fast one is trusted", () => {
    for (const text of corpus) expectAgreement(text);
  });

  test("agree on random texts wherever the fast one is trusted", { timeout }, () => {
    fc.assert(fc.property(texts, expectAgreement), during(2));
  });

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
      during(0.5),
    );
  });
});

describe("texts on which the parsers differ go to the exact one", () => {
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
