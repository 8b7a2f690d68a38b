import { describe, expect, test } from "vitest";
import type { Shape } from "../../../src/contract/manifest-shape.ts";
import { comparableText, versionContent } from "../../../src/server/manifest/put-declared.ts";

const value: Shape = { is: "value" };
const shape: Shape = {
  is: "object",
  fields: {
    name: value,
    tags: { is: "list", items: value, key: [] },
    steps: { is: "list", items: value },
    env: { is: "free", asText: true },
    extra: { is: "free" },
  },
};

describe("the content of a version", () => {
  test("leaves out what may change in place", () => {
    const bare = { type: "t", name: "n" };
    const dressed = { ...bare, version: 3, description: "d", metadata: { a: 1 }, version_alias: "prod" };
    expect(versionContent(shape, dressed)).toBe(versionContent(shape, bare));
  });

  test("knows no order of keys, no order of sets, and no null", () => {
    expect(comparableText(shape, { tags: ["b", "a"], name: "n", unknown: null })).toBe(
      comparableText(shape, { name: "n", tags: ["a", "b"] }),
    );
  });

  test("keeps the order of lists and the nulls inside free objects", () => {
    expect(comparableText(shape, { steps: [1, 2] })).not.toBe(comparableText(shape, { steps: [2, 1] }));
    expect(comparableText(shape, { extra: { a: null } })).not.toBe(comparableText(shape, { extra: {} }));
  });

  test("compares environment values as strings", () => {
    expect(comparableText(shape, { env: { A: 1, B: true } })).toBe(
      comparableText(shape, { env: { A: "1", B: "true" } }),
    );
  });

  test("is not confused by names that every object has", () => {
    expect(comparableText(shape, JSON.parse('{"constructor": 1, "__proto__": {"name": 2}}'))).toContain("constructor");
  });
});
