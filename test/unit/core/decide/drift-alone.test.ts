import { expect, test } from "vitest";
import { isDriftAlone } from "../../../../src/core/decide/drift-alone.ts";
import type { Cause } from "../../../../src/core/diff/field-cause.ts";

test.each<[readonly Cause[], boolean]>([
  [["drift"], true],
  [["drift", "default", "server", "ignored"], true],
  [["drift", "manifest"], false],
  [["manifest"], false],
  [["default"], false],
  [[], false],
])("the causes %j are drift alone: %s", (given, isAlone) => {
  const differences = given.map((cause) => ({
    tokens: [],
    before: 1,
    after: 2,
    sensitive: false,
    cause,
    isOfThisChange: false,
  }));
  expect(isDriftAlone({ differences })).toBe(isAlone);
});
