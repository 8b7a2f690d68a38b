import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isAtOrBelow, realPathOutside } from "../../../src/files/real-path.ts";
import { temporaryFolder } from "../../support/folder.ts";

async function tree() {
  const top = await temporaryFolder();
  const source = join(top, "source");
  mkdirSync(join(source, "real"), { recursive: true });
  mkdirSync(join(top, "elsewhere"));
  symlinkSync("../elsewhere", join(source, "link"));
  symlinkSync("source", join(top, "way"));
  symlinkSync("nowhere", join(top, "dangling"));
  return { top, source };
}

describe("S40 the way to a folder", () => {
  test("S40 leads through links outside of the source, and ends with what does not exist yet", async () => {
    const { top, source } = await tree();
    expect(realPathOutside(source, join(top, "way", "real"))).toBe(join(source, "real"));
    expect(realPathOutside(source, join(source, "real", "a", "b"))).toBe(join(source, "real", "a", "b"));
    expect(realPathOutside(null, join(source, "link", "a"))).toBe(join(top, "elsewhere", "a"));
  });

  test("S40 leads through no link in the source, however the source is reached", async () => {
    const { top, source } = await tree();
    for (const path of [join(source, "link"), join(source, "link", "a", "b"), join(top, "way", "link")]) {
      expect(() => realPathOutside(source, path)).toThrow(`${join(source, "link")} is a symbolic link in the source`);
    }
  });

  test("S40 does not lead to a link's target that is not there", async () => {
    const { top } = await tree();
    expect(() => realPathOutside(null, join(top, "dangling"))).toThrow("a broken symbolic link");
  });

  test("a path lies at or below a folder", () => {
    const paths = ["/a", "/a/b", "/a/..b", "/ab", "/", "/b"];
    expect(paths.filter((path) => isAtOrBelow("/a", path))).toEqual(["/a", "/a/b", "/a/..b"]);
  });
});
