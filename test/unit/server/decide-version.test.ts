import { describe, expect, test } from "vitest";
import { decideVersion, type VersionRow } from "../../../src/server/resources/artifact/register-version.ts";

const kept = (version: number, content: string, manifest = content): VersionRow => ({ version, content, manifest });
const three = kept(3, "c", "c described");
const two = kept(2, "b");

describe("writing a version without a number", () => {
  test("makes the first version of a new name", () => {
    const wanted = { version: null, content: "a", manifest: "a" };
    expect(decideVersion(wanted, { newest: null, numbered: null })).toEqual({ decision: "create", version: 1 });
  });

  test("makes the next version when the content differs from the newest", () => {
    const wanted = { version: null, content: "b", manifest: "b" };
    expect(decideVersion(wanted, { newest: three, numbered: null })).toEqual({ decision: "create", version: 4 });
  });

  test("answers the newest version when everything is equal", () => {
    const wanted = { version: null, content: "c", manifest: "c described" };
    expect(decideVersion(wanted, { newest: three, numbered: null })).toEqual({ decision: "keep", existing: three });
  });

  test("updates the newest version in place when only a changeable field differs", () => {
    const wanted = { version: null, content: "c", manifest: "c described anew" };
    expect(decideVersion(wanted, { newest: three, numbered: null })).toEqual({ decision: "update", existing: three });
  });
});

describe("writing a version with a number", () => {
  test("makes version 1 of a new name and the one after the newest", () => {
    const wanted = { version: 1, content: "a", manifest: "a" };
    expect(decideVersion(wanted, { newest: null, numbered: null })).toEqual({ decision: "create", version: 1 });
    const next = { version: 4, content: "c", manifest: "c" };
    expect(decideVersion(next, { newest: three, numbered: null })).toEqual({ decision: "create", version: 4 });
  });

  test("refuses a number that is further ahead", () => {
    const wanted = { version: 2, content: "a", manifest: "a" };
    expect(decideVersion(wanted, { newest: null, numbered: null })).toEqual({ decision: "gap", next: 1 });
    expect(decideVersion({ ...wanted, version: 5 }, { newest: three, numbered: null })).toEqual({
      decision: "gap",
      next: 4,
    });
  });

  test("refuses changed content at an existing number", () => {
    const wanted = { version: 2, content: "x", manifest: "x" };
    expect(decideVersion(wanted, { newest: three, numbered: two })).toEqual({ decision: "conflict", version: 2 });
  });

  test("keeps or updates an older version of equal content", () => {
    const wanted = { version: 2, content: "b", manifest: "b" };
    expect(decideVersion(wanted, { newest: three, numbered: two })).toEqual({ decision: "keep", existing: two });
    expect(decideVersion({ ...wanted, manifest: "b described" }, { newest: three, numbered: two })).toEqual({
      decision: "update",
      existing: two,
    });
  });
});
