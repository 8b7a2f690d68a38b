import { expect, test } from "vitest";
import { namedList } from "../../../src/model/named-list.ts";

type Member = { readonly name: string; readonly version: number };

const nameOf = ({ name }: Member) => name;

const listOf = (...names: readonly string[]): readonly Member[] => names.map((name) => ({ name, version: 1 }));

test("members are found in the order of their list, each once, whatever else is asked for", () => {
  const list = listOf("a", "b", "c");
  const named = namedList(list, nameOf);
  expect(named.among(["c", "absent", "a", "c"])).toEqual([list[0], list[2]]);
  expect(named.named("b")).toBe(list[1]);
  expect(named.named("absent")).toBeUndefined();
});

test("a replaced member is found in the later list, and the earlier list is as it was", () => {
  const earlier = namedList(listOf("a", "b", "c"), nameOf);
  const changed = { name: "b", version: 2 };
  const later = earlier.withReplaced([changed, { name: "absent", version: 2 }]);
  expect(later.list).toEqual([earlier.list[0], changed, earlier.list[2]]);
  expect(later.named("b")).toBe(changed);
  expect(earlier.list).toEqual(listOf("a", "b", "c"));
  expect(earlier.named("b")).toEqual({ name: "b", version: 1 });
});

test("names are read once, however many lists follow from a list, and never where no name is asked for", () => {
  let read = 0;
  const first = namedList(listOf("a", "b", "c"), ({ name }) => {
    read += 1;
    return name;
  });
  expect(read).toBe(0);
  const later = first.withReplaced([{ name: "b", version: 2 }]).withReplaced([{ name: "c", version: 3 }]);
  // Once for each of the list, and once for each that was replaced.
  expect(later.among(["a", "b", "c"])).toHaveLength(3);
  expect(read).toBe(5);
});

test("of members with the same name the first is found", () => {
  const list = [...listOf("a"), { name: "a", version: 2 }];
  expect(namedList(list, nameOf).among(["a"])).toEqual([list[0]]);
});
