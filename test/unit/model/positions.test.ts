import { expect, test } from "vitest";
import { membersNamed, positionsIn, withReplaced } from "../../../src/model/positions.ts";

type Member = { readonly name: string; readonly version: number };

const nameOf = ({ name }: Member) => name;

const listOf = (...names: readonly string[]): readonly Member[] => names.map((name) => ({ name, version: 1 }));

test("members are found in the order of their list, each once, whatever else is asked for", () => {
  const list = listOf("a", "b", "c");
  expect(membersNamed(list, ["c", "absent", "a", "c"], nameOf)).toEqual([list[0], list[2]]);
});

test("a replaced member is found in the later list, and the earlier list is as it was", () => {
  const list = listOf("a", "b", "c");
  const changed = { name: "b", version: 2 };
  const next = withReplaced(list, [changed, { name: "absent", version: 2 }], nameOf);
  expect(next).toEqual([list[0], changed, list[2]]);
  expect(membersNamed(next, ["b"], nameOf)).toEqual([changed]);
  expect(list).toEqual(listOf("a", "b", "c"));
  expect(positionsIn(next, nameOf)).toBe(positionsIn(list, nameOf));
});

test("of members with the same name the first is found", () => {
  const list = [...listOf("a"), { name: "a", version: 2 }];
  expect(membersNamed(list, ["a"], nameOf)).toEqual([list[0]]);
});
