import { describe, expect, it } from "vitest";
import { closestName, editDistance } from "../../../src/schema/closest-name.ts";

describe("the nearest name", () => {
  it("is found through insertions, deletions, replacements and swaps", () => {
    const names = ["host", "port", "path", "replicas", "rewrite_path_to"];
    expect(["hoost", "hst", "hist", "hsot"].map((name) => closestName(name, names))).toEqual([
      "host",
      "host",
      "host",
      "host",
    ]);
    expect(closestName("replcas", names)).toBe("replicas");
  });

  it("is found through another way of writing words", () => {
    expect(closestName("rewritePathTo", ["rewrite_path_to"])).toBe("rewrite_path_to");
    expect(closestName("Rewrite-Path-To", ["rewrite_path_to"])).toBe("rewrite_path_to");
    expect(closestName("owned_by", ["ownedBy"])).toBe("ownedBy");
  });

  it("is none when nothing is near, or when the name is absurdly long", () => {
    expect(closestName("zebra", ["host", "port"])).toBeUndefined();
    expect(closestName("x", [])).toBeUndefined();
    expect(closestName("host".repeat(1000), ["host"])).toBeUndefined();
  });

  it("is the first of the nearest", () => {
    expect(closestName("pot", ["port", "post"])).toBe("port");
  });
});

describe("the distance of two texts", () => {
  it("counts up to its limit", () => {
    expect(editDistance("", "", 2)).toBe(0);
    expect(editDistance("abc", "abc", 2)).toBe(0);
    expect(editDistance("ab", "ba", 2)).toBe(1);
    expect(editDistance("abc", "xyz", 2)).toBe(3);
    expect(editDistance("a", "abcdef", 2)).toBe(3);
  });
});
