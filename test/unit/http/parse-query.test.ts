import { expect, test } from "vitest";
import { parseQueryText } from "../../../src/http/parse-query.ts";

test("values keep their order, and repeated names all their values", () => {
  expect(Object.fromEntries(parseQueryText("a=1&b=x+y%20z&a=2&c&d=&"))).toEqual({
    a: ["1", "2"],
    b: ["x y z"],
    c: [""],
    d: [""],
  });
});

test("a name of the prototype is only a name", () => {
  expect(parseQueryText("__proto__=1&constructor=2").get("__proto__")).toEqual(["1"]);
});

test.each(["a=%", "a=%zz", "a=%ff", "a=%00", "%=1"])("%s is refused", (text) => {
  expect(() => parseQueryText(text)).toThrow(expect.objectContaining({ status: 400 }));
});
