import { expect, test } from "vitest";
import { tokenLocationsText } from "../../../src/render/apply.ts";

const tokens = (count: number) =>
  Array.from({ length: count }, (_, nth) => ({ identity: `virtual-account/a${nth}`, location: `/state/a/t${nth}` }));

test("says where each of a few tokens is, and where more of them are", () => {
  expect(tokenLocationsText([], 80)).toBe("");
  expect(tokenLocationsText(tokens(1), 80)).toBe("token of virtual-account/a0: /state/a/t0\n");
  expect(tokenLocationsText(tokens(10), 80).split("\n")).toHaveLength(11);
  const many = tokenLocationsText([...tokens(800), { identity: "virtual-account/b", location: "/state/b/t" }], 80);
  expect(many.split("\n").slice(9)).toEqual([
    "token of virtual-account/a9: /state/a/t9",
    "… and 791 more tokens, in",
    "  /state/a",
    "  /state/b",
    "",
  ]);
});
