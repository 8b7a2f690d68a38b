import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJsonBody } from "../../../src/http/json-body.ts";
import { outline } from "../../../src/http/json-outline.ts";

const parse = (text: string) => parseJsonBody(Buffer.from(text));

test("JSON is read, with a byte-order mark too", () => {
  expect(parse('{"a":[1,"]}"]}')).toEqual({ a: [1, "]}"] });
  expect(parse('\uFEFF{"a":1}')).toEqual({ a: 1 });
});

test.each([
  ["nothing", ""],
  ["no JSON", "{"],
  ["two values", "{} {}"],
  ["not a number", '{"a":NaN}'],
  ["a key __proto__", '{"a":{"__proto__":{"b":1}}}'],
  ["an escaped key __proto__", '{"a":[{"__\\u0070roto__":1}]}'],
  ["a key twice", '{"a":1,"b":2,"a":1}'],
  ["a key twice, deep down", '{"a":[{"b":{"c":":","d":1,"c":2}}]}'],
  ["a key twice, once escaped", '{"abc":1,"\\u0061bc":2}'],
  ["the empty key twice", '{"":1,"":2}'],
  ["depth", `${"[".repeat(65)}${"]".repeat(65)}`],
  ["great depth", "[".repeat(1_000_000)],
])("%s is refused", (_, text) => {
  expect(() => parse(text)).toThrow(expect.objectContaining({ status: 400 }));
});

test("what is no UTF-8 is refused", () => {
  expect(() => parseJsonBody(Buffer.from([0x22, 0xff, 0x22]))).toThrow("UTF-8");
});

test("the message quotes nothing of the body", () => {
  expect(() => parse('{"password":"CANARY-2" oops')).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining("CANARY") }),
  );
});

test("brackets and colons inside of strings are none", () => {
  expect(outline('["[[[[", "\\"[[[:"]')).toEqual({ depth: 1, pairs: 0 });
  expect(outline('[["a"], {"a:\\\\": ":{"}]')).toEqual({ depth: 2, pairs: 1 });
  expect(outline('["never closed [[')).toEqual({ depth: 1, pairs: 0 });
});

test("whatever JSON writes is read again as it was", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(!text.includes("__proto__"));
      expect(parse(text)).toEqual(JSON.parse(text));
    }),
  );
});
