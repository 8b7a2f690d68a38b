import { expect, test } from "vitest";
import { type FlagName, flags } from "../../../../src/commands/flags/flags.ts";

test("the value of a flag goes by the flag's name, and that of one that says no by what it denies", () => {
  const names = Object.keys(flags) as FlagName[];
  const denied = (name: string) =>
    name.replace(/^no([A-Z])/, (_, first: string) => first.toLowerCase()).replace(/^\w+Output$/, "output");
  expect(names.map((name) => flags[name].option().attributeName())).toEqual(names.map(denied));
});
