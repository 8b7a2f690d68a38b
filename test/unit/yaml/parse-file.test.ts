import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/contract/json.ts";
import type { Limits } from "../../../src/source/limits.ts";
import type { Format } from "../../../src/yaml/document.ts";
import { lineFinder } from "../../../src/yaml/locator.ts";
import { parsed } from "./parsed.ts";

function parse(content: string | Uint8Array, format: Format = "yaml", limits: Partial<Limits> = {}) {
  const file = parsed(content, format, limits);
  const at = lineFinder(file.text);
  const faults = [...file.faults, ...file.documents.flatMap((document) => document.faults)];
  return {
    values: file.documents.map(({ value }) => value),
    faults: faults.map(({ code, offset }) => `${at(offset).line}:${at(offset).column} ${code}`),
    texts: faults.map(({ summary, detail }) => `${summary} ${detail}`),
    lines: file.documents.map(({ offset }) => at(offset).line),
  };
}

function read(content: string, format: Format = "yaml"): Json | undefined {
  const { values, faults } = parse(content, format);
  expect(faults).toEqual([]);
  expect(values).toHaveLength(1);
  return values[0];
}

describe("text", () => {
  test("B1: invalid UTF-8 is refused with the byte's offset", () => {
    const { faults, texts } = parse(Buffer.concat([Buffer.from("a: é\nb: "), Buffer.from([0xff]), Buffer.from("\n")]));
    expect(faults).toEqual(["1:1 encoding"]);
    expect(texts[0]).toContain("at byte 9");
  });

  test("B1: the offset is right wherever the bad byte stands", () => {
    for (const length of [0, 1, 7, 8, 9, 63, 64, 1000, 4097]) {
      const { texts } = parse(Buffer.concat([Buffer.from("é".repeat(length)), Buffer.from([0xc3]), Buffer.from("zz")]));
      expect(texts[0]).toContain(`at byte ${2 * length} `);
    }
  });

  test.each([
    ["UTF-16 with a mark", Buffer.from("\ufefftype: service", "utf16le")],
    ["UTF-16 without", Buffer.from("type: service\n", "utf16le")],
    ["UTF-16 big-endian", Buffer.from("\ufefftype: service", "utf16le").swap16()],
    ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
  ])("B2: %s is named as such", (_, bytes) => {
    expect(parse(bytes).texts.join()).toContain("Save the file as UTF-8");
    expect(parse(bytes).faults).toEqual(["1:1 encoding"]);
  });

  test("B2: a byte-order mark is accepted at the start alone", () => {
    expect(read("\ufeffa: 1\n")).toEqual({ a: 1 });
    expect(read('\ufeff{"a": 1}', "json")).toEqual({ a: 1 });
    expect(parse("a: 1\n\ufeffb: 2\n").faults).toEqual(["2:1 byte-order-mark"]);
  });

  test("B2: a byte-order mark is accepted before the comments of a later document too", () => {
    for (const text of ["a: 1\n\ufeff# b\n\n---\nb: 2\n", "a: 1\n...\n# b\n\ufeff# c\n---\nb: 2\n"]) {
      expect(parse(text)).toMatchObject({ values: [{ a: 1 }, { b: 2 }], faults: [] });
    }
    expect(parse("a: 1\n\ufeff# b\nb: 2\n").faults).toEqual(["2:1 byte-order-mark"]);
  });

  test("B2: lines end with LF or CRLF, mixed as they may be, never with CR alone", () => {
    expect(read("a: 1\r\nb: |\r\n  x\r\n  y\nc: 3\r\n")).toEqual({ a: 1, b: "x\ny\n", c: 3 });
    expect(parse("a: 1\rb: 2\n").faults).toEqual(["1:5 line-ending"]);
  });

  test.each(["\u2028", "\u2029", "\v", "\f", "\u0085"])("B2: %j ends no line, so no marker follows it", (character) => {
    const { values, faults } = parse(`# a comment${character}--- {type: team}\ntext: |\n  a${character}...\n  b\n`);
    // Control characters are refused in any place.
    if (faults.some((fault) => fault.endsWith(" control-character"))) return;
    expect(values).toEqual([{ text: `a${character}...\nb\n` }]);
  });

  test("B2: markers that split documents stand at the beginning of a line", () => {
    expect(parse("a: 1\n---\nb: 2\n...\n--- c\n...  \n... # over\n---\t\nd: 4\n---").values).toEqual([
      { a: 1 },
      { b: 2 },
      "c",
      { d: 4 },
      null,
    ]);
    expect(parse("a: 1 ---\nb: |\n  ---\n  ...\nc: ....\n").values).toEqual([
      { a: "1 ---", b: "---\n...\n", c: "...." },
    ]);
  });

  test.each(["\0", "\u0007", "\u001b", "\u007f", "\u0085x\u0090"])(
    "B3: the raw control character %j is refused",
    (character) => {
      expect(parse(`a: "x${character}"\n`).faults[0]).toMatch(/^1:\d+ control-character$/);
    },
  );

  test("B3: escaped control characters are kept", () => {
    expect(read('a: "\\0\\e\\x07"\n')).toEqual({ a: "\0\u001b\u0007" });
  });

  test("B3: what hides or reorders text is refused in keys and a warning in values", () => {
    expect(parse("a\u202eb: 1\n").faults).toEqual(["1:1 invisible-character"]);
    expect(parse('"a\\u200b": 1\n').faults).toEqual(["1:1 invisible-character"]);
    expect(parse('"a\\0": 1\n').faults).toEqual(["1:1 control-character"]);
    expect(parse('"a\\ud800": 1\n').faults).toEqual(["1:1 encoding"]);
    const { values, faults } = parse("a: x\u202ey\n");
    expect(values).toEqual([{ a: "x\u202ey" }]);
    expect(faults).toEqual(["1:4 invisible-character"]);
  });

  test("B3: joined emoji are no hidden text", () => {
    expect(read("a: 👩‍💻 at work\n")).toEqual({ a: "👩‍💻 at work" });
  });

  test.each([
    ["gzip", gzipSync("type: service")],
    ["PNG", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0])],
  ])("B26: %s is refused without being shown", (_, bytes) => {
    expect(parse(bytes).faults).toHaveLength(1);
    expect(parse(bytes).values).toEqual([]);
  });
});

describe("scalars", () => {
  test.each([
    ["no", "no"],
    ["on", "on"],
    ["y", "y"],
    ["~", null],
    ["null", null],
    ["", null],
    ["true", true],
    ["1e3", 1000],
    ["0x10", 16],
    ["0o755", 493],
    [".5", 0.5],
    ["+1", 1],
    ["-0", 0],
    ["1_000", "1_000"],
    ["12:30:45", "12:30:45"],
    ["2026-11-21", "2026-11-21"],
    ["1.2.3", "1.2.3"],
    ["9007199254740991", 9007199254740991],
    ["=", "="],
  ])("B4, B7: %j reads as YAML 1.2 core", (text, value) => {
    expect(read(`a: ${text}\n`)).toEqual({ a: value });
  });

  test.each(["0755", "-012", "00", "08", "01.5"])("B6: %s looks octal and must be quoted", (text) => {
    expect(parse(`a: ${text}\n`).faults).toEqual(["1:4 octal-looking"]);
    expect(read(`a: "${text}"\n`)).toEqual({ a: text });
  });

  test.each(["9007199254740993", "-9007199254740993", "0xFFFFFFFFFFFFFFFF", "1e20"])(
    "B7: %s would lose digits",
    (text) => {
      expect(parse(`a: ${text}\n`).faults).toEqual(["1:4 unsafe-integer"]);
    },
  );

  test.each([".nan", ".inf", "-.Inf", "1e400", "-1e999"])("B7: %s is not finite", (text) => {
    expect(parse(`a: ${text}\n`).faults).toEqual(["1:4 not-finite"]);
  });
});

describe("structure", () => {
  test("an empty key is told where it stands", () => {
    expect(parse("a: 1\nb:\n  : x\n").faults).toEqual(["3:3 key"]);
    expect(parse("a: 1\nb: {: x}\n").faults).toEqual(["2:5 key"]);
  });

  test.each([
    ["brackets", `a: 1\nb: ${"[".repeat(5000)}${"]".repeat(5000)}\n`, "2:67"],
    ["braces", `a: 1\nb: ${"{a: ".repeat(5000)}${"}".repeat(5000)}\n`, "2:256"],
    ["items", `a: 1\nb:\n  ${"- ".repeat(5000)}x\n`, "3:127"],
  ])("nesting of %s that is deeper than the parser goes is told where it is too deep", (_, text, at) => {
    expect(parse(text).faults).toEqual([`${at} too-deep`]);
  });

  test.each(["%YAML 1.1\n---\na: no\n", "%TAG ! tag:x,2000:\n---\na: 1\n", "a: 1\n---\n%FOO\nb: 1\n"])(
    "B5: the directive in %j is refused",
    (text) => {
      expect(parse(text).faults[0]).toMatch(/^\d+:1 directive$/);
    },
  );

  test("B8: duplicate keys are refused, compared as texts", () => {
    expect(parse("a: 1\nb: 2\na: 3\n").faults).toEqual(["3:1 duplicate-key"]);
    expect(parse('a: 1\n"a": 2\n').faults).toEqual(["2:1 duplicate-key"]);
    expect(parse("{a: 1, 'a': 2}\n").faults).toEqual(["1:8 duplicate-key"]);
  });

  test("B8, B11: keys that are no strings are refused", () => {
    expect(parse('1: x\n"1": y\n').faults).toEqual(["1:1 key"]);
    for (const text of ["true: 1\n", "? [a, b]\n: 1\n", "{[a]: 1}\n", "? {a: 1}\n: 2\n", "~: 1\n"]) {
      expect(parse(text).faults.join()).toContain(" key");
    }
    expect(parse(": 1\n").faults.join()).toContain("key");
    expect(read("on: 1\nno: 2\n? x\n: 3\n")).toEqual({ on: 1, no: 2, x: 3 });
  });

  test("B8: the first of two equal keys is found, whatever stands between them", () => {
    const text = "x: {b: 0}\na:\n  - b: {c: 1}\n    d: [b, {b: 1}]\n    e: b\n    b: 2\n";
    const [{ offset, other } = { offset: 0 }] = parsed(text).documents[0]?.faults ?? [];
    expect([offset, other]).toEqual([text.lastIndexOf("b:"), text.indexOf("b: {c")]);
    const second = `---\na: 1\n---\n${text}`;
    expect(parsed(second).documents[1]?.faults[0]?.other).toBe(second.indexOf("b: {c"));
  });

  test("B9: duplicate keys in JSON are refused", () => {
    expect(parse('{"a": 1,\n "b": {"c": 1, "c": 2}}', "json").faults).toEqual(["2:16 duplicate-key"]);
  });

  test.each([
    "!Ref x",
    "!!js/function x",
    "!!binary aGk=",
    "!!timestamp 2001-12-14",
    "!<tag:x,2000:y> z",
    "!!set {a}",
    "!!omap []",
    "!foo!bar x",
    "!!map x",
  ])("B10: the tag in %j is refused", (text) => {
    expect(parse(`a: ${text}\n`).faults).toEqual([expect.stringMatching(/ tag$/)]);
  });

  test("B10: the core's own tags are read", () => {
    expect(
      read(
        'a: !!str 1\nb: !!int "3"\nc: !!float 1\nd: ! 5\ne: !!map {x: 1}\nf: !!seq [1]\ng: !!bool true\nh: !!null ~\n',
      ),
    ).toEqual({
      a: "1",
      b: 3,
      c: 1,
      d: "5",
      e: { x: 1 },
      f: [1],
      g: true,
      h: null,
    });
    expect(parse("a: !!int x\n").faults).toEqual([expect.stringMatching(/^1:\d+ tag$/)]);
  });

  test("B11: an alias needs its anchor", () => {
    expect(parse("a: *x\n").faults).toEqual(["1:4 unknown-anchor"]);
    expect(parse("a: &x [*x]\n").faults).toEqual(["1:8 recursive-alias"]);
    expect(read("a: &x {b: 1}\nc: *x\n")).toEqual({ a: { b: 1 }, c: { b: 1 } });
  });

  test("B12: keys that mean something to JavaScript are ordinary data", () => {
    const names = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty"];
    for (const format of ["yaml", "json"] as const) {
      const value = read(
        JSON.stringify({ labels: Object.fromEntries(names.map((name) => [name, { polluted: "yes" }])) }).replace(
          '"constructor"',
          '"constructor"',
        ),
        format,
      );
      expect(JSON.stringify(value)).toContain('"hasOwnProperty"');
    }
    const value = read("__proto__:\n  polluted: yes\nconstructor: 1\ntoString: 2\n");
    expect(Object.keys(value ?? {})).toEqual(["__proto__", "constructor", "toString"]);
    expect(Object.entries({ ...(value as object) })[0]).toEqual(["__proto__", { polluted: "yes" }]);
    expect(JSON.parse(JSON.stringify(value))).toEqual(value);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    expect(parse("__proto__: 1\n__proto__: 2\n").faults).toEqual(["2:1 duplicate-key"]);
  });

  test("B13: an alias bomb is refused at once", () => {
    const bomb = Array.from(
      { length: 9 },
      (_, n) =>
        `a${n}: &a${n} [${
          n === 0
            ? "x"
            : Array(9)
                .fill(`*a${n - 1}`)
                .join(", ")
        }]`,
    );
    expect(parse(bomb.join("\n")).faults.join()).toContain("too-many-nodes");
  });

  test("B13: depth counts aliases too", () => {
    const tower = Array.from({ length: 80 }, (_, n) => `a${n}: &a${n} [${n === 0 ? "x" : `*a${n - 1}`}]`);
    expect(parse(tower.join("\n")).faults.join()).toContain("too-deep");
  });

  test.each([500, 2000, 10_000, 100_000])("B14: %d levels are refused at once", (depth) => {
    for (const text of [
      "[".repeat(depth),
      "a: ]\n".concat("[".repeat(depth)),
      "- ".repeat(depth),
      "{a: ".repeat(depth),
    ]) {
      const { faults } = parse(text);
      expect(faults.length).toBeGreaterThan(0);
      expect(faults.length).toBeLessThanOrEqual(10);
    }
    expect(parse("[".repeat(depth), "json").faults).toEqual(["1:65 too-deep"]);
  });

  test("B14: 64 levels are fine, 65 are not", () => {
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    for (const format of ["yaml", "json"] as const) {
      expect(parse(nested(64), format).faults).toEqual([]);
      expect(parse(nested(65), format).faults).toEqual(["1:65 too-deep"]);
    }
  });

  test("B15: wide mappings cost linear time and have a limit", () => {
    const wide = (count: number) => Array.from({ length: count }, (_, n) => `key${n}: ${n}\n`).join("");
    expect(parse(wide(2000)).faults).toEqual([]);
    expect(parse(wide(2001)).faults).toEqual(["1:1 too-many-keys"]);
    expect(parse(wide(10_000)).faults).toHaveLength(2);
    expect(parse(wide(50_000)).faults).toEqual(["1:1 too-large"]);
    expect(parse(`${wide(5000)}\tbad: 1\n`).faults.length).toBeGreaterThan(0);
  });

  test("B16: merge keys are refused", () => {
    expect(parse("a: &a {x: 1}\nb:\n  <<: *a\n  y: 2\n").faults).toEqual(["3:3 merge-key"]);
    expect(read('"<<": 1\n')).toEqual({ "<<": 1 });
  });

  test("B17: files without content declare nothing, empty documents are seen", () => {
    expect(parse("").values).toEqual([]);
    expect(parse("# only\n\n  # comments\n").values).toEqual([]);
    expect(parse("---\n").values).toEqual([null]);
    expect(parse("--- null\n").values).toEqual([null]);
    expect(parse("---\n---\na: 1\n").values).toEqual([null, { a: 1 }]);
    expect(parse("...\n").values).toEqual([]);
  });

  test("B17: 200 documents are fine, 201 are not", () => {
    expect(parse("---\na: 1\n".repeat(200)).values).toHaveLength(200);
    expect(parse("---\na: 1\n".repeat(201)).faults).toEqual(["401:1 too-many-documents"]);
  });

  test("B17: trailing garbage is a fault of its document alone", () => {
    const { values, faults, lines } = parse("a: 1\n---\nb: [\n---\nc: 3\n... junk\n---\nd: 4\n");
    expect(values).toEqual([{ a: 1 }, null, null, { d: 4 }]);
    expect(faults).toHaveLength(2);
    expect(lines).toEqual([1, 2, 4, 8]);
  });

  test("documents start where their content does", () => {
    expect(parse("# head\n\na: 1\n---\n\n# more\nb: 2\n").lines).toEqual([3, 7]);
    expect(parse("--- # comment\na: |\n  x\n--- {b: 2}\n").lines).toEqual([2, 4]);
  });

  test("B31: no fault shows what stands in the text", () => {
    for (const text of [
      "password: hunter2\n bad: [\n",
      "hunter2: 'x\n",
      "a: !hunter2 x\n",
      "a: *hunter2hunter2\n".replace("*hunter2hunter2", "&h [*h"),
      '{"hunter2": hunter2',
    ]) {
      const { texts } = parse(text);
      expect(texts.length).toBeGreaterThan(0);
      expect(texts.join()).not.toContain("hunter2");
    }
    expect(parse('{"hunter2": "x", "password": hunter2}', "json").texts.join()).not.toContain("hunter2");
  });

  test("every fault of a document is reported at once", () => {
    const { faults } = parse("a: 0755\nb: !x y\nc: 1\nc: 2\n<<: *z\n");
    const codes = ["octal-looking", "tag", "duplicate-key", "merge-key", "unknown-anchor"];
    expect(faults.map((fault) => fault.split(" ")[1])).toEqual(codes);
    expect(faults.map((fault) => fault.split(":")[0])).toEqual(["1", "2", "4", "5", "5"]);
  });
});

describe("JSON files", () => {
  test.each([
    ['{"a": 1,}', "1:8"],
    ["{a: 1}", "1:2"],
    ['{"a": 1} // no', "1:10"],
    ["[1 2]", "1:4"],
    ['{"a": 01}', "1:7"],
    ['{"a": "x\n"}', "1:7"],
    ['{"a": "\\x"}', "1:7"],
    ['{"a": tru}', "1:7"],
    ["{\"a\": 'x'}", "1:7"],
    ['{"a": 1', "1:8"],
    ["NaN", "1:1"],
  ])("%j is not strict JSON", (text, place) => {
    expect(parse(text, "json").faults).toEqual([`${place} syntax`]);
  });

  test("what JSON.parse accepts reads the same, but for numbers that would lose digits", () => {
    const text = JSON.stringify({ a: [1, -2.5e-3, true, null, 'é\n \\"', {}], "b c": { d: [] } }, null, "\t");
    expect(read(text, "json")).toEqual(JSON.parse(text));
    expect(parse('{"a": 9007199254740993}', "json").faults).toEqual(["1:7 unsafe-integer"]);
    expect(read('{"a": "0755", "b": "no"}', "json")).toEqual({ a: "0755", b: "no" });
  });

  test("JSON inside a YAML file is fine", () => {
    expect(read('{"a": [1, "x"], "b": {"c": null}}')).toEqual({ a: [1, "x"], b: { c: null } });
  });
});
