import fc from "fast-check";
import { expect, test } from "vitest";
import { measureJson } from "../../../src/contract/measure-json.ts";
import { parseJsonBody } from "../../../src/http/json-body.ts";
import { processorMs } from "../../support/processor-time.ts";

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

test("invalid UTF-8 is refused", () => {
  expect(() => parseJsonBody(Buffer.from([0x22, 0xff, 0x22]))).toThrow("UTF-8");
});

test("the message quotes nothing of the body", () => {
  expect(() => parse('{"password":"CANARY-2" oops')).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining("CANARY") }),
  );
});

test("brackets and colons inside strings are not counted", () => {
  expect(measureJson(Buffer.from('["[[[[", "\\"[[[:"]'))).toMatchObject({ depth: 1, pairs: 0 });
  expect(measureJson(Buffer.from('[["a"], {"a:\\\\": ":{"}]'))).toMatchObject({ depth: 2, pairs: 1 });
  expect(measureJson(Buffer.from('["never closed [['))).toMatchObject({ depth: 1, pairs: 0 });
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

test("S46 a body of 800,000 members costs little more than its bytes, and is not parsed", () => {
  const members = Array.from({ length: 800_000 }, (_, n) => `"${n.toString(36)}":1`);
  const bytes = Buffer.from(`{${members}}`);
  const long = Buffer.from(`{"a":"${"x".repeat(bytes.length)}"}`);
  const cost = (work: () => unknown) => {
    const [started, before] = [processorMs(), process.memoryUsage().heapUsed];
    work();
    return { ms: processorMs() - started, heap: process.memoryUsage().heapUsed - before };
  };
  const refuse = () => expect(() => parseJsonBody(bytes)).toThrow("more than 50,000 values");
  refuse();
  parseJsonBody(long);
  const [wide, plain, parsed] = [cost(refuse), cost(() => parseJsonBody(long)), cost(() => JSON.parse(String(bytes)))];
  expect(wide.ms).toBeLessThan(plain.ms + 50);
  expect(wide.ms).toBeLessThan(parsed.ms / 4);
  expect(wide.heap).toBeLessThan(2 * bytes.length);
});

test("S46 as many values as any manifest may hold are read", () => {
  const items = Array.from({ length: 49_990 }, () => "1");
  expect(parse(`{"a":[${items}]}`)).toEqual({ a: items.map(Number) });
  expect(() => parse(`{"a":[${[...items, ...items]}]}`)).toThrow("more than 50,000 values");
  expect(() => parse(`[${Array.from({ length: 50_001 }, () => "[]")}]`)).toThrow("more than 50,000 values");
});
