import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/contract/json.ts";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { expectedLive, withDefaults } from "../../../../src/core/diff/expected-live.ts";

const value = { is: "value" } as const;
const named: Shape = { is: "list", key: ["name"], items: { is: "object", fields: { name: value, at: value } } };
const unnamed: Shape = { is: "list", items: { is: "object", fields: { name: value, at: value } } };
const receipt = {
  written: [
    { name: "a", at: "sent" },
    { name: "b", at: "sent" },
  ],
  returned: [
    { name: "a", at: "answered" },
    { name: "b", at: "answered" },
  ],
};

test("an item with a name that is declared as before is what the server made of it, and others are as declared", () => {
  const desired = [
    { name: "a", at: "sent" },
    { name: "b", at: "other" },
    { name: "c", at: "new" },
  ];
  expect(expectedLive(named, desired, receipt)).toEqual([
    { name: "a", at: "answered" },
    { name: "b", at: "other" },
    { name: "c", at: "new" },
  ]);
});

test("items without names are as declared once one of them changes", () => {
  const desired = [{ name: "a", at: "sent" }];
  expect(expectedLive(unnamed, desired, receipt)).toEqual(desired);
  expect(expectedLive(unnamed, receipt.written, receipt)).toEqual(receipt.returned);
});

describe("live after a write", () => {
  const shape: Shape = {
    is: "object",
    fields: { a: value, b: { is: "value", default: 1 }, list: named, inner: { is: "object", fields: { a: value } } },
  };

  test.each<[string, Json | undefined, Json | undefined, Json | undefined, Json | undefined]>([
    ["is as it was answered where nothing changes", { a: 1 }, { a: 1 }, { a: 2, c: 3 }, { a: 2, c: 3 }],
    ["has what is new beside what was added", { a: 1, d: 4 }, { a: 1 }, { a: 2, c: 3 }, { a: 2, c: 3, d: 4 }],
    ["has what is changed as it is declared", { a: 9 }, { a: 1 }, { a: 2, c: 3 }, { a: 9, c: 3 }],
    ["has no field that is taken out", { d: 4 }, { a: 1, d: 4 }, { a: 2, d: 4 }, { d: 4 }],
    ["has the default of a field that is taken out", { d: 4 }, { b: 7, d: 4 }, { b: 7, d: 4 }, { b: 1, d: 4 }],
    ["has the default of a field that was not answered", { d: 4 }, { b: 7, d: 4 }, { d: 4 }, { b: 1, d: 4 }],
    ["has no object without fields", { a: 1 }, { a: 1, inner: { a: 1 } }, { a: 1, inner: { a: 1 } }, { a: 1 }],
    ["has nothing where all is taken out", {}, { a: 1 }, { a: 1 }, undefined],
    ["has the defaults where it was nothing", { a: 1 }, undefined, undefined, { a: 1, b: 1 }],
    ["has the defaults where the answer was none", { a: 1 }, { a: 2 }, "none", { a: 1, b: 1 }],
    ["is what else is declared", "text", { a: 1 }, { a: 1 }, "text"],
  ])("%s", (_, desired, written, returned, expected) => {
    expect(expectedLive(shape, desired, { written, returned })).toEqual(expected);
  });

  test("has the defaults where nothing is recorded", () => {
    expect(expectedLive(shape, { a: 1 }, null)).toEqual({ a: 1, b: 1 });
    expect(withDefaults(shape, undefined)).toBeUndefined();
    expect(withDefaults({ is: "free" }, null)).toBeNull();
  });

  test("has the items of a set as they are declared", () => {
    const set: Shape = { is: "list", key: [], items: value };
    expect(expectedLive(set, ["b", "c"], { written: ["a", "b"], returned: ["A", "B"] })).toEqual(["b", "c"]);
    expect(expectedLive({ is: "free" }, ["b"], { written: ["a"], returned: ["A"] })).toEqual(["b"]);
  });

  test("has an item as it is declared where only its name was sent or answered before", () => {
    const desired = [{ name: "a", at: "new" }];
    const [sent, other] = [[{ name: "a", at: "sent" }], [{ name: "b", at: "sent" }]];
    expect(expectedLive(named, desired, { written: sent, returned: other })).toEqual(desired);
    expect(expectedLive(named, desired, { written: other, returned: sent })).toEqual(desired);
    expect(expectedLive(named, [null, ...desired], { written: sent, returned: sent })).toEqual(desired);
  });
});
