import { expect, test } from "vitest";
import type { Json } from "../../../../src/contract/json.ts";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { mergeIntoWritten } from "../../../../src/core/diff/merge-into-written.ts";

const value: Shape = { is: "value" };
const shape: Shape = {
  is: "object",
  fields: {
    set: { is: "list", key: [], items: value },
    named: { is: "list", key: ["name"], items: { is: "object", fields: { name: value, n: value } } },
    places: { is: "list", items: value },
  },
};

test.each<[string, Json | undefined, Json | undefined, Json | undefined]>([
  [
    "all that has the wanted meaning",
    { a: null, set: ["b", "a", "a"] },
    { set: ["a", "b"] },
    { a: null, set: ["b", "a", "a"] },
  ],
  ["the order of what is wanted", { set: ["c", "a"] }, { set: ["a", "b", "c"] }, { set: ["c", "a", "b"] }],
  ["no field that is not wanted", { a: 1, b: 2 }, { b: 2 }, { b: 2 }],
  ["what means nothing", { a: 1, b: null, c: [] }, { a: 2 }, { a: 2, b: null, c: [] }],
  [
    "what means nothing in a list",
    { named: [{ name: "b", n: 1 }, null, { name: "a", n: null }] },
    { named: [{ name: "a" }, { name: "b", n: 2 }] },
    { named: [{ name: "b", n: 2 }, null, { name: "a", n: null }] },
  ],
  [
    "no item that is not wanted",
    { named: [{ name: "b" }, { name: "a" }] },
    { named: [{ name: "a" }, { name: "c" }] },
    { named: [{ name: "a" }, { name: "c" }] },
  ],
  [
    "nothing of a list whose items share names",
    { named: [{ name: "b" }, { name: "a", n: 1 }] },
    {
      named: [
        { name: "a", n: 1 },
        { name: "a", n: 2 },
      ],
    },
    {
      named: [
        { name: "a", n: 1 },
        { name: "a", n: 2 },
      ],
    },
  ],
  [
    "the places of items without names",
    { places: [null, "a", "b"] },
    { places: ["a", "c"] },
    { places: [null, "a", "c"] },
  ],
  ["nothing of another form", { places: "a" }, { places: ["b"] }, { places: ["b"] }],
  ["nothing where nothing is wanted", { a: 1 }, undefined, undefined],
  ["nothing where nothing is written", undefined, { a: 1 }, { a: 1 }],
])("a written manifest keeps %s", (_, written, wanted, merged) => {
  expect(mergeIntoWritten(shape, written, wanted)).toEqual(merged);
});
