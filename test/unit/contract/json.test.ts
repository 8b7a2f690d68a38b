import { expect, test } from "vitest";
import { parseJsonOrNull } from "../../../src/contract/json.ts";

test.each([
  ['{"a": [1]}', { a: [1] }],
  ["7", 7],
  ["null", null],
  ["", null],
  ['{"a": ', null],
  ["<html>", null],
])("the value of %j as JSON is %j", (text, value) => {
  expect(parseJsonOrNull(text)).toEqual(value);
});
