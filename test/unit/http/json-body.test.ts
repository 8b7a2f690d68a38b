import { expect, test } from "vitest";
import { isDeeperThan, parseJsonBody } from "../../../src/http/json-body.ts";

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

test("brackets inside of strings are no depth", () => {
  expect(isDeeperThan(1, '["[[[[", "\\"[[["]')).toBe(false);
  expect(isDeeperThan(1, '[["a"]]')).toBe(true);
});
