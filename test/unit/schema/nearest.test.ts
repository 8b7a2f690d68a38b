import { describe, expect, it } from "vitest";
import { editDistance, nearest } from "../../../src/schema/nearest.ts";

describe("the nearest name", () => {
  it("is found through insertions, deletions, replacements and swaps", () => {
    const names = ["host", "port", "path", "replicas", "rewrite_path_to"];
    expect(["hoost", "hst", "hist", "hsot"].map((name) => nearest(name, names))).toEqual([
      "host",
      "host",
      "host",
      "host",
    ]);
    expect(nearest("replcas", names)).toBe("replicas");
  });

  it("is found through another way of writing words", () => {
    expect(nearest("rewritePathTo", ["rewrite_path_to"])).toBe("rewrite_path_to");
    expect(nearest("Rewrite-Path-To", ["rewrite_path_to"])).toBe("rewrite_path_to");
    expect(nearest("owned_by", ["ownedBy"])).toBe("ownedBy");
  });

  it("is none when nothing is near, or when the name is absurdly long", () => {
    expect(nearest("zebra", ["host", "port"])).toBeUndefined();
    expect(nearest("x", [])).toBeUndefined();
    expect(nearest("host".repeat(1000), ["host"])).toBeUndefined();
  });

  it("is the first of the nearest", () => {
    expect(nearest("pot", ["port", "post"])).toBe("port");
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
