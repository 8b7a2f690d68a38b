import fc from "fast-check";

// In two parts, so that no scanner takes them for a leak.
const key = "PRIVATE KEY-----";
const credentials = [
  `AKIA${"A".repeat(16)}`,
  `'x ghp_${"a1".repeat(18)}'`,
  `>\n    -----BEGIN\n    ${key}`,
  `|\n    -----BEGIN ${key}`,
];

const scalars = [
  ...[
    "|\n    a\tb\n    \tc\n     \td",
    "|-\n    a\t\n\t\n    b",
    ">\n    a\tb\n    c",
    "'a\tb'",
    '"a\tb"',
    "a # b\tc",
    "\t|\n    a",
  ],
  ...credentials,
  ...["a", "api", "1", "-1", "0", "-0", "+1", "0x1F", "0o7", "007", ".5", "5.", "1_000", "1e3", "1e999", "1:30"],
  ...["9007199254740993", "0.1", "~", "null", "Null", "true", "True", "no", "on", ".inf", ".nan", "2026-01-01", "x y"],
  ...["2026-01-01T00:00:00Z", "<<", "=", "-", "--", "---", "-a", "- a", "--flag", "?", "? a", "?a", ":", ":a", "a:b"],
  ...["a: b", "a:", "a #b", "a#b", "#", "# c", "a # c: d", "http://x/y#z", "{{x}}", "{a: 1}", "{}", "{ }", "[]", "[ ]"],
  ...[
    "[a, b]",
    "[a, 'b', \"c\"]",
    "[a: b]",
    "[a,]",
    "[,]",
    "[a b , c ]",
    "[[1], {a: [x]}]",
    "{a: 1, b: {c: d}}",
    "{a}",
  ],
  ...[
    "{a:1}",
    "{a: }",
    '{"a": 1}',
    '{"a":1}',
    "{a: 1, a: 2}",
    "[http://x, a:b, a:]",
    "[-1, -, -a, - a]",
    "[a] b",
    "{a: b}c",
  ],
  ...[
    "[a #b]",
    "[a#b, c]",
    "{a: 1} # c",
    "[1]#c",
    "[a\n  , b]",
    "'q'",
    "'it''s'",
    "'a: b'",
    "'a' b",
    "'a'# c",
    "'a' # c",
  ],
  ...[
    "''",
    "'''",
    "'a\n  b'",
    '""',
    '"a: b"',
    '"a\\nb"',
    '"\\u0041"',
    '"\\"',
    '"\\/\\t"',
    '"\\x41"',
    '"a" b',
    'a"b',
    "a'b",
  ],
  ...[
    "a, b",
    "a [b]",
    "a]",
    "a}",
    "&x",
    "&x a",
    "*x",
    "!t a",
    "!!str 1",
    "%a",
    "@a",
    "`a`",
    "|",
    ">",
    "|-\n    a",
    "a\\b",
  ],
  ...[
    "|\n    a\n     b\n\n    c",
    ">\n    a\n    b\n\n\n    c",
    ">-\n    a\n      b",
    "|+\n    a\n\n",
    ">+\n\n    a\n\n",
    "|1\n   a",
  ],
  ...[
    "|\n",
    "|\n\n",
    "|  # c\n    a",
    "|a",
    ">-\n    a \n    b",
    "|\n      a\n    b",
    "|\n       \n    a",
    "|\n    a\n       ",
    "| \n  a",
  ],
  ...[
    "a\n    b",
    "a\n  # c",
    "a\n   # c\n    b",
    "\n    a",
    "\n  - a",
    "\n- a\n- b: c\n  d: e",
    "\n    b: c\n    d: e",
    "a ",
    "a  # c",
  ],
  ...[
    "\n      - - x\n        - y\n      -\n        z: 1",
    "\n    - a: 1\n      b:\n      - c\n      - d",
    "é",
    "a\u00a0b",
    "\u{1f600}",
    "...",
    "... a",
  ],
  ...[
    "\n    - |\n      a\n    - b",
    "\n    - >-\n     a\n     b\n    - 'c'",
    "$x",
    "(a)",
    ";a",
    "^a",
    "a\tb",
    "\ta",
    "a\r",
    "... x",
  ],
];
const keys = [
  ...[
    "a",
    "b",
    "c",
    "a",
    "b",
    "type",
    "name",
    "x y",
    "a.b/c",
    "A_1",
    "1",
    "1a",
    "-a",
    "--a",
    "? a",
    "?a",
    "'a'",
    '"b"',
    "'b c'",
  ],
  ...[
    '"1"',
    "'<<'",
    "<<",
    "__proto__",
    "constructor",
    "true",
    "no",
    "~",
    "null",
    "a:b",
    "a: b",
    "a #b",
    "a#b",
    "{a}",
    "[a]",
  ],
  ...[
    "a,b",
    "a'b",
    "&a b",
    "*a",
    "!a b",
    "",
    "''",
    '""',
    '"\\n"',
    "é",
    ".5",
    "0x1",
    "...",
    "---",
    "$x",
    "a ",
    "a\t",
    "%a",
    "@a",
  ],
];
const indents = [
  "",
  "",
  "",
  "  ",
  "  ",
  "    ",
  "    ",
  " ",
  "   ",
  "      ",
  "- ",
  "- ",
  "  - ",
  "  - ",
  "-   ",
  "    - ",
  "- - ",
];
const between = [": ", ": ", ": ", ": ", ": ", ":", ":  ", " : ", "", ":\n", ": # c\n", ":#"];
const ends = [
  "\n",
  "\n",
  "\n",
  "\n",
  "\n",
  "\n",
  "\n\n",
  " \n",
  " # c\n",
  "#c\n",
  "\n# c\n",
  "\n  # c\n",
  "\n      # c\n",
  "\n   \n",
  "",
];
const lines = [
  "---\n",
  "--- \n",
  "--- # c\n",
  "--- a\n",
  "...\n",
  "  ---\n",
  "# c\n",
  "\n",
  " \n",
  "-\n",
  "- a\n",
  "  - a\n",
  "  -\n",
  "a\n",
];

const entry = fc
  .tuple(...[indents, keys, between, scalars, ends].map((each) => fc.constantFrom(...each)))
  .map((parts) => parts.join(""));
const item = fc
  .tuple(...[indents, scalars, ends].map((each) => fc.constantFrom(...each)))
  .map((parts) => parts.join(""));

// Sound more often than not, since what is wrong in one line hides what is in the others.
const names = ["a", "b", "c", "d", "e", "f"];
const sound = fc
  .tuple(
    fc.nat(5),
    fc.array(fc.tuple(fc.constantFrom(...scalars), fc.constantFrom(...ends)), { minLength: 1, maxLength: 4 }),
  )
  .map(([from, found]) => found.map(([value, end], nth) => `${names[(from + nth) % 6]}: ${value}${end}`).join(""));
const nested = fc
  .tuple(sound, fc.constantFrom("  ", " ", "    "), fc.constantFrom("", "- "))
  .map(
    ([inner, indent, dash]) =>
      `k:\n${indent}${dash}${inner.replaceAll("\n", `\n${indent}${dash && "  "}`).trimEnd()}\n`,
  );

/** Texts nearly as plain as most manifests: every way to be off that a line has. */
export const nearPlain: fc.Arbitrary<string> = fc.oneof(
  fc
    .array(fc.oneof({ arbitrary: entry, weight: 6 }, item, fc.constantFrom(...lines)), { maxLength: 7 })
    .map((all) => all.join("")),
  sound,
  nested,
  fc.tuple(sound, nested, entry, sound).map((all) => all.join("")),
);

const tokens = [..."a1:-#'\"[]{},|>?%\\.~+ \n\t", "...", "---", "b: c", "\n  "];
const around: readonly (readonly [before: string, behind: string])[] = [
  ["", ""],
  ["a:", ""],
  ["a:\n", "\nb: c"],
  ["a:\n  - ", ""],
  ["a:\n- b", "\n- c"],
  ["a: |\n  x", "\nb: c"],
  ["a: >-\n  x", "\n  y\nb: c"],
  ["a: |+\n", "\n   x\n\nb: c"],
  ["a: [x", "]"],
  ["a: {b: x", "}"],
  ["a: 'x", "'"],
  ['a: "x', '"'],
];

/** Everything that up to so many tokens can make of a value, a line, a text or a pair of brackets. */
export function* everyText(count: number): Generator<string> {
  for (const [before, behind] of around) {
    for (const middle of everyRow(count)) yield `${before}${middle}${behind}\n`;
  }
}

function* everyRow(count: number): Generator<string> {
  yield "";
  if (count === 0) return;
  for (const token of tokens) for (const row of everyRow(count - 1)) yield token + row;
}
