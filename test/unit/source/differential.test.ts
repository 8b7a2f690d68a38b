import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defaultLimits } from "../../../src/source/limits.ts";
import { type Built, build } from "../../../src/source/parse/build.ts";
import { doubtOf } from "../../../src/source/parse/document.ts";
import { parseExact } from "../../../src/source/parse/exact.ts";
import { parseFast } from "../../../src/source/parse/fast.ts";
import { splitDocuments } from "../../../src/source/parse/split.ts";
import type { Parsed } from "../../../src/source/parse/stream.ts";
import { decode } from "../../../src/source/parse/text.ts";
import { parsed } from "./parsed.ts";

// Everything that YAML gives a meaning to, whole and in parts.
const atoms = [
  ..."abkx019 \n\t:?-|>&*!%@`#,[]{}'\"\\~.=<",
  "  ",
  "\n  ",
  "\n    ",
  "\n- ",
  ": ",
  "? ",
  "- ",
  " #c",
  "---\n",
  "...\n",
  "--- ",
  "key: value",
  "b: 1",
  "- a\n- b",
  "a:\n  b:\n    c",
  "|-\n  x",
  ">+\n  y\n\n",
  "|2\n   x",
  "'q'",
  '"d\\n"',
  '"x\n  y"',
  "&x ",
  "*x",
  "!!str ",
  "!t ",
  "<<: *x",
  "0755",
  "1e3",
  "no",
  ".nan",
  "{a: 1, b}",
  "[a, b: c]",
  "'it''s'",
  "http://x",
  "a#b",
  "a:b",
  "key:\n- 1\n- 2",
  "? a\n: b",
  "é",
  "\u0085",
  "\u2028",
  "\r\n",
  "__proto__: 1",
];

const base = `type: service
name: api
env:
  A: "x"
  B: |
    line one
      line two
  C: >-
    folded
    text

    more
ports:
  - port: 80
    host: 'a'
  - {port: 1, protocol: TCP}
list: [1, two, "three", null]
empty:
# comment
anchor: &a {x: 1}
alias: *a
url: http://x/y#z
`;

const soup = fc.array(fc.constantFrom(...atoms), { maxLength: 12 }).map((parts) => parts.join(""));

// Where in the base something is cut out, and what is put in its place.
const edit = fc.tuple(fc.nat(base.length), fc.nat(4), fc.constantFrom("", ...atoms));
const mutant = fc
  .array(edit, { minLength: 1, maxLength: 4 })
  .map((edits) => edits.reduce((text, [at, length, atom]) => text.slice(0, at) + atom + text.slice(at + length), base));

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const MILLISECONDS = Number(process.env.FUZZ_MS ?? 2000);

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

describe(`texts of every sort (SEED=${SEED})`, () => {
  test("the fast parser is trusted only where the exact one reads the same", { timeout: 60_000 + MILLISECONDS }, () => {
    fc.assert(
      fc.property(fc.oneof(soup, mutant), (text) => {
        const decoded = decode(Buffer.from(text));
        if ("fault" in decoded || /^%/m.test(decoded.text)) return;
        for (const chunk of splitDocuments(decoded.text)) {
          const [fast, exact] = [parseFast(chunk.text, 64), parseExact(chunk.text)];
          if (exact === null || doubtOf(fast, chunk.text) !== null) continue;
          const [ours, theirs] = [verdict(fast), verdict(exact)];
          if (!isMapping(ours) && !isMapping(theirs)) continue;
          expect(typeof ours === "object" && ours.built.value).toEqual(
            typeof theirs === "object" && theirs.built.value,
          );
        }
      }),
      { seed: SEED, numRuns: 1_000_000, interruptAfterTimeLimit: MILLISECONDS, markInterruptAsFailure: false },
    );
  });

  test("nothing throws, and every fault lies within the text", { timeout: 60_000 + MILLISECONDS }, () => {
    fc.assert(
      fc.property(
        fc.oneof(soup, mutant, fc.string({ unit: "binary", maxLength: 60 })),
        fc.constantFrom("yaml", "json"),
        (text, format) => {
          const file = parsed(text, format === "yaml" ? "yaml" : "json");
          for (const { faults } of [file, ...file.documents]) {
            for (const { offset } of faults) expect(offset).toBeLessThanOrEqual(text.length);
          }
          expect(Reflect.ownKeys(Object.prototype)).not.toContain("1");
        },
      ),
      { seed: SEED, numRuns: 1_000_000, interruptAfterTimeLimit: MILLISECONDS / 2, markInterruptAsFailure: false },
    );
  });

  test("bytes of every sort are read or refused, never thrown at", { timeout: 60_000 + MILLISECONDS }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        parsed(bytes, "yaml");
        parsed(bytes, "json");
      }),
      { seed: SEED, numRuns: 1_000_000, interruptAfterTimeLimit: MILLISECONDS / 8, markInterruptAsFailure: false },
    );
  });

  test("JSON reads as JSON.parse reads it, in both kinds of files", { timeout: 60_000 + MILLISECONDS }, () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom("", "  ", "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const { documents } = parsed(text, "json");
        const faults = documents.flatMap((document) => document.faults.filter(({ severity }) => severity === "error"));
        if (faults.length > 0) {
          const allowed = ["unsafe-integer", "not-finite", "control-character", "encoding", "invisible-character"];
          expect(allowed).toEqual(expect.arrayContaining(faults.map(({ code }) => code)));
        } else expect(JSON.stringify(documents[0]?.value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { seed: SEED, numRuns: 1_000_000, interruptAfterTimeLimit: MILLISECONDS / 4, markInterruptAsFailure: false },
    );
  });
});

describe("texts on which the parsers differ go to the exact one", () => {
  test.each([
    ["a: &x b: 1\n", "refused"],
    ["---\n\ta: 1\n", "refused"],
    ["  ---\na: 1\n", "refused"],
    ["a: |1\n  x\n", { a: " x\n" }],
  ])("%j", (text, expected) => {
    const [document] = parsed(text).documents;
    expect(document?.faults.length === 0 ? document.value : "refused").toEqual(expected);
  });
});
