import { describe, expect, test } from "vitest";
import { storeName } from "../../../src/engine/store-name.ts";

const label = { plain: /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, mostLength: 63 };

describe("a name in a store", () => {
  test("is the name itself where the store allows it", () => {
    expect(["ci", "prod-2", "a--b"].map((name) => storeName(name, label))).toEqual(["ci", "prod-2", "a--b"]);
  });

  test("is another one for each name that the store does not allow, in the form of the store", () => {
    const names = ["A", "a_b", "a.b", "a/b", "-a", "", "é", "x".repeat(64), "x".repeat(65), "ada@example.com"];
    const written = names.map((name) => storeName(name, label));
    expect(new Set(written).size).toBe(names.length);
    for (const one of written) expect(one).toMatch(label.plain);
    expect(written[9]).toMatch(/^ada-example-com--[0-9a-f]{32}$/);
  });

  test("is never that of a name that looks like one that was rewritten", () => {
    const rewritten = storeName("a/b", label);
    expect(storeName(rewritten, label)).not.toBe(rewritten);
  });
});
