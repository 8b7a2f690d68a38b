import { expect, test } from "vitest";
import { errorMessage } from "../../../src/contract/error-message.ts";

test.each([
  [new TypeError("no number"), "no number"],
  [new Error(""), ""],
  ["a text", "a text"],
  [null, "null"],
  [{ message: "no error" }, "[object Object]"],
])("%s says %j", (thrown, message) => {
  expect(errorMessage(thrown)).toBe(message);
});
