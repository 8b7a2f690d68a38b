import { globSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { seeds } from "./seeds.ts";

/** What starts the random texts; given in `SEED` to see the same again. */
export const seed: number = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** How many texts each property tries; `npm run test:fuzz` gives it a hundred times as many. */
const cases: number = Number(process.env.FUZZ_CASES ?? 1000);

/** Whether more is tried than in every run of the tests. */
export const isLong: boolean = cases > 1000;

/** How a property is run on its share of the texts. */
export function runs(share: number): { readonly seed: number; readonly numRuns: number } {
  return { seed, numRuns: Math.ceil(cases * share) };
}

/** A test's own time limit around that, in milliseconds. */
export const timeout: number = 180_000 + 30 * cases;

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

/** The manifests that people have: the examples, and what once went wrong. */
export const corpus: readonly string[] = [
  base,
  ...globSync("examples/manifests/**/*.yaml")
    .toSorted()
    .map((file) => readFileSync(file, "utf8")),
  ...seeds,
];

const soup = fc.array(fc.constantFrom(...atoms), { maxLength: 12 }).map((parts) => parts.join(""));

// Where something is cut out of a text, and what is put in its place.
const edit = fc.record({ at: fc.nat(8000), length: fc.nat(4), atom: fc.constantFrom("", ...atoms) });
const edited = fc
  .tuple(fc.constantFrom(...corpus), fc.array(edit, { minLength: 1, maxLength: 4 }))
  .map(([text, edits]) => edits.reduce(replaceAt, text));

function replaceAt(text: string, { at, length, atom }: { at: number; length: number; atom: string }): string {
  const from = at % (text.length + 1);
  return text.slice(0, from) + atom + text.slice(from + length);
}

// What a hand does to lines: losing, doubling, moving, indenting and joining them.
const change = fc.record({
  does: fc.constantFrom("drop", "double", "swap", "indent", "outdent", "join", "tab", "borrow"),
  at: fc.nat(400),
  other: fc.nat(400),
});
const relined = fc
  .tuple(fc.constantFrom(...corpus), fc.constantFrom(...corpus), fc.array(change, { minLength: 1, maxLength: 4 }))
  .map(([text, donor, changes]) => {
    const lines = text.split("\n");
    for (const { does, at, other } of changes) alter(lines, donor.split("\n"), does, at % lines.length, other);
    return lines.join("\n");
  });

function alter(lines: string[], donor: readonly string[], does: string, at: number, other: number): void {
  const line = lines[at] ?? "";
  const by: { readonly [does: string]: readonly string[] } = {
    drop: [],
    double: [line, line],
    swap: [lines[other % lines.length] ?? "", line],
    indent: [`  ${line}`],
    outdent: [line.slice(1)],
    join: [`${line} ${lines[at + 1] ?? ""}`],
    tab: [line.replace(/^ +| /, "\t")],
    borrow: [line, donor[other % donor.length] ?? ""],
  };
  lines.splice(at, 1, ...(by[does] ?? []));
}

/** Random texts, most of them nearly manifests. */
export const texts: fc.Arbitrary<string> = fc.oneof(soup, edited, relined, fc.constantFrom(...corpus));
