import { expect, test } from "vitest";
import { once, oncePer } from "../../../src/model/once.ts";

test("a value is made when it is first asked for, and once", () => {
  const made: string[] = [];
  const value = once(() => {
    made.push("made");
    return made;
  });
  expect(made).toEqual([]);
  expect(value()).toBe(value());
  expect(made).toEqual(["made"]);
});

test("a value that could not be made is tried again", () => {
  let isReady = false;
  const value = once(() => {
    if (!isReady) throw new Error("not yet");
    return "made";
  });
  expect(value).toThrow("not yet");
  isReady = true;
  expect(value()).toBe("made");
});

test("a value of a key is made once for each key", () => {
  const made: string[] = [];
  const value = oncePer((key: string) => {
    made.push(key);
    return { key };
  });
  expect([value("a"), value("b"), value("a")]).toEqual([{ key: "a" }, { key: "b" }, { key: "a" }]);
  expect(value("a")).toBe(value("a"));
  expect(made).toEqual(["a", "b"]);
});
