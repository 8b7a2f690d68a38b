import { describe, expect, test } from "vitest";
import type { Shape } from "../../../src/contract/shape.ts";
import { comparable, contentOf } from "../../../src/server/manifest/content.ts";

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
    expect(contentOf(shape, dressed)).toBe(contentOf(shape, bare));
  });

  test("knows no order of keys, no order of sets, and no null", () => {
    expect(comparable(shape, { tags: ["b", "a"], name: "n", unknown: null })).toBe(
      comparable(shape, { name: "n", tags: ["a", "b"] }),
    );
  });

  test("keeps the order of lists and the nulls inside free objects", () => {
    expect(comparable(shape, { steps: [1, 2] })).not.toBe(comparable(shape, { steps: [2, 1] }));
    expect(comparable(shape, { extra: { a: null } })).not.toBe(comparable(shape, { extra: {} }));
  });

  test("compares environment values as strings", () => {
    expect(comparable(shape, { env: { A: 1, B: true } })).toBe(comparable(shape, { env: { A: "1", B: "true" } }));
  });

  test("is not confused by names that every object has", () => {
    expect(comparable(shape, JSON.parse('{"constructor": 1, "__proto__": {"name": 2}}'))).toContain("constructor");
  });
});
