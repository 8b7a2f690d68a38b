import { expect, test } from "vitest";
import { isListOperation } from "../../../src/contract/operations.ts";

test.each([
  ["listApps", true],
  ["listPersonalAccessTokens", true],
  ["getCluster", false],
  ["putCluster", false],
] as const)("%s returns a page of rows: %s", (name, isList) => {
  expect(isListOperation(name)).toBe(isList);
});
