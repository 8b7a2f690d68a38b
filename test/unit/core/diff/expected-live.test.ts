import { expect, test } from "vitest";
import type { Shape } from "../../../../src/contract/manifest-shape.ts";
import { expectedLive } from "../../../../src/core/diff/expected-live.ts";

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
