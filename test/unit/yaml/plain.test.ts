import { globSync, readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { CORE_SCHEMA, dump, load, YAMLException } from "js-yaml";
import { describe, expect, test } from "vitest";
import { corpus as corpusOf } from "../../../bench/corpus/corpus.ts";
import { defaultLimits, type Limits } from "../../../src/source/limits.ts";
import { decode } from "../../../src/yaml/decode-text.ts";
import { exactReader } from "../../../src/yaml/exact/exact-reader.ts";
import { offsetsOfPlain, readPlain, respellingsOfPlain } from "../../../src/yaml/fast/read-plain.ts";
import { traitsOf } from "../../../src/yaml/misleading-characters.ts";
import { type Chunk, splitDocuments } from "../../../src/yaml/split-documents.ts";
import { everyText, nearPlain } from "./near-plain.ts";
import { corpus, isLong, runs, seed, texts, timeout } from "./texts.ts";

const tight: Limits = { ...defaultLimits, depth: 2, keys: 3, nodes: 8 };

/** What the library `yaml`, the authority, makes of a document. */
function exactly(chunk: Chunk, limits: Limits) {
  const read = exactReader(limits, true)(chunk);
  if (read === null) return null;
  const { value, faults, offset, hasCredentials, fieldOffsets, respellings } = read;
  const respelt = respellings();
  return { faults, offset, hasCredentials, fieldOffsets: fieldOffsets(), respelt, json: JSON.stringify(value) };
}

function expectAgreement(text: string, limits: Limits): void {
  const decoded = decode(Buffer.from(text));
  if ("fault" in decoded || !traitsOf(decoded.text, decoded.isSimple).isPlain || /^%/m.test(decoded.text)) return;
  for (const chunk of splitDocuments(decoded.text)) {
    const read = readPlain(chunk, decoded.isSimple ? Buffer.from(decoded.text) : null, limits);
    if (read === null || "fault" in read) continue;
    const { value, offset, hasCredentials, faults, isRespelt } = read;
    const by = chunk.offset;
    const moved = faults.map((one) => ({
      ...one,
      offset: one.offset + by,
      ...(one.other === undefined ? {} : { other: one.other + by }),
    }));
    const json = JSON.stringify(value);
    const fieldOffsets = offsetsOfPlain(chunk, limits);
    const respelt = isRespelt ? respellingsOfPlain(chunk, limits) : [];
    expect(exactly(chunk, limits)).toEqual({
      faults: moved,
      offset: by + offset,
      hasCredentials,
      fieldOffsets,
      respelt,
      json,
    });
    // A third opinion, of a library that is no part of the program, where nothing is wrong. It keeps a minus zero.
    if (faults.length > 0) continue;
    try {
      expect(JSON.stringify(load(chunk.text, { schema: CORE_SCHEMA }))).toBe(json);
    } catch (error) {
      if (!isTooStrict(error, chunk.text)) throw error;
    }
  }
}

// Where brackets are the whole of an indented document, js-yaml wants their next lines indented as far as the first one;
// the authority does not.
function isTooStrict(error: unknown, text: string): boolean {
  const isIndentation = error instanceof YAMLException && error.reason === "deficient indentation";
  return isIndentation && /^(?:---)?(?:\s|#[^\n]*\n)+[[{]/.test(text);
}

describe(`the plain reader (SEED=${seed})`, () => {
  test("reads the corpus as both libraries do", () => {
    for (const text of corpus) expectAgreement(text, defaultLimits);
  });

  test.each([
    ["", defaultLimits],
    [" and keeps the limits", tight],
  ])("reads whatever it answers for as both libraries do%s", { timeout }, (_, limits) => {
    fc.assert(
      fc.property(fc.oneof({ arbitrary: nearPlain, weight: 4 }, texts), (text) => expectAgreement(text, limits)),
      runs(limits === tight ? 0.5 : 1.5),
    );
  });

  test("reads whatever a few characters make of a value as both libraries do", { timeout }, () => {
    for (const text of everyText(isLong ? 3 : 2)) expectAgreement(text, defaultLimits);
  });

  test("answers for every example without anchors and the whole corpus of the bench", () => {
    const files = globSync("examples/**/*.yaml").map((file) => readFileSync(file, "utf8"));
    const examples = files.filter((text) => !/: &\w/.test(text));
    expect(examples.length).toBeGreaterThan(15);
    for (const text of [...examples, ...corpusOf(200).map((manifest) => dump(manifest, { lineWidth: 120 }))]) {
      for (const chunk of splitDocuments(text)) expect(readPlain(chunk, null, defaultLimits)).not.toBeNull();
    }
  });

  test.each([
    ["a: 1\n", { a: 1 }],
    ["--- # c\n\na: 0.5\nb:\nc: 'it''s' # c\n", { a: 0.5, b: null, c: "it's" }],
    ['a:\n- b: {c: [1, x y]}\n  d: ~\n- - e\nf: "\\t"\n', { a: [{ b: { c: [1, "x y"] }, d: null }, ["e"]], f: "\t" }],
    ["a: [b, # c\n\n  # d\n  {e: f, 'g':h\n  },\n ]\n", { a: ["b", { e: "f", g: "h" }] }],
    ["a: b\n  c d\n e # f\n", { a: "b c d e" }],
    ["- a\n- b: c\n", ["a", { b: "c" }]],
    [' {"a":1,\n"b":[]}\n', { a: 1, b: [] }],
    ["a: |\n  b\n   c\n\nd: >-\n  e\n  f\n\n  g\n", { a: "b\n c\n", d: "e f\ng" }],
  ])("reads %j", (text, expected) => {
    const read = readPlain({ text, offset: 0, isExplicit: false }, Buffer.from(text), defaultLimits);
    expect(read).toMatchObject({ value: expected });
  });

  test.each([
    ...["", "# c\n", "a\n", " a: 1\n", "a: b: c\n", "a:\n  b\n"],
    ...[
      "... a: b\n",
      "a: &b c\n",
      "a: *b\n",
      "a: !b c\n",
      "<<: a\n",
      "1: a\n",
      "~: a\n",
      "__proto__: a\n",
      "? a\n",
      "a: |2\n   b\n",
    ],
    ...[
      "a: [b\n c]\n",
      "a: [b,\nc]\n",
      "a: [b,\n# c\n  d]\n",
      "a: b\n  # d\n c\n",
      "a: 'b\n c'\n",
      'a: "\\u0041"\n',
      "a: |\n  b",
    ],
  ])("leaves %j to others", (text) => {
    expect(readPlain({ text, offset: 0, isExplicit: false }, Buffer.from(text), defaultLimits)).toBeNull();
  });

  test.each([
    ["a: 1\nb: c\na: 2\na: 3\n", { a: 1, b: "c" }, ["duplicate-key 10 0", "duplicate-key 15 0"]],
    ["a: {b: 1, 'b': {c: 017}}\n", { a: { b: 1 } }, ["octal-looking 19", "duplicate-key 10 4"]],
    ["- a: 1e999\n- 9007199254740993\n", [{ a: 0 }, 0], ["not-finite 5", "unsafe-integer 13"]],
  ])("tells what is wrong with keys and numbers, as the exact reader does: %j", (text, value, told) => {
    const read = readPlain({ text, offset: 0, isExplicit: false }, Buffer.from(text), defaultLimits);
    const faults = read === null || "fault" in read ? [] : read.faults;
    expect(read).toMatchObject({ value });
    expect(
      faults.map(({ code, offset, other }) => [code, offset, other].filter((one) => one !== undefined).join(" ")),
    ).toEqual(told);
    expectAgreement(text, defaultLimits);
  });

  test("makes ordinary objects with their keys in order, and none that another document has too", () => {
    const names = ["toString", "constructor", "toJSON", "k10", "k2", "1a", ...[..."qwertyuiop"]];
    const text = `a:\n- {${names.map((name) => `${name}: []`).join(", ")}}\n`;
    const [first, second] = [items(text), items(text)];
    expect(Object.keys(Object(first[0]))).toEqual(names);
    expect(Object.getPrototypeOf(first[0])).toBe(Object.prototype);
    Object.assign(Object(first[0]), { toJSON: 1, more: 2 });
    expect(second).toEqual([Object.fromEntries(names.map((name) => [name, []]))]);
  });

  test("reads as before once there were more kinds of objects than it remembers", () => {
    const numbers = Array.from({ length: 10_000 }, (_, nth) => nth);
    const text = `a:\n${numbers.map((nth) => `- same: {x: 1}\n  key${nth}: 2\n`).join("")}`;
    expect(items(text)).toEqual(numbers.map((nth) => ({ same: { x: 1 }, [`key${nth}`]: 2 })));
  });

  test("keeps no text of which it has read a key", () => {
    const before = heap();
    for (let nth = 0; nth < 64; nth++) items(`a_key_of_its_own_${nth}: 1\n1: leave it\n# ${"-".repeat(2 ** 20)}\n`);
    expect(heap() - before).toBeLessThan(16 * 2 ** 20);
  });
});

/** The items of the list that a document with one field has; none where it is left to others. */
function items(text: string): readonly unknown[] {
  const limits = { ...defaultLimits, nodes: 100_000 };
  const read = readPlain({ text, offset: 0, isExplicit: false }, Buffer.from(text), limits);
  return Object.values(Object(read !== null && "value" in read ? read.value : {})).flat();
}

function heap(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc()");
  return process.memoryUsage().heapUsed;
}
