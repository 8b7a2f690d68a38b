import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../../src/store/make-folder.ts";

const fresh = (): string => mkdtempSync(join(tmpdir(), "holdfast-folder-"));

describe("a folder of the user", () => {
  it("is made where another process makes its parent at the same time", async () => {
    const parent = join(fresh(), "a");
    const made = makeFolder(join(parent, "b"));
    // Until that process ends nothing here goes on; by then the kernel has refused the folder.
    execFileSync("mkdir", [parent]);
    await made;
    expect(existsSync(join(parent, "b"))).toBe(true);
  });

  it("is made with its parents, for its owner alone, and may be there already", async () => {
    const path = join(fresh(), "a", "b", "c");
    await makeFolder(path);
    await makeFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  it("cannot be where a file is", async () => {
    const path = join(fresh(), "file");
    writeFileSync(path, "");
    await expect(makeFolder(path)).rejects.toMatchObject({ code: "EEXIST" });
    await expect(makeFolder(join(path, "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("is refused where the kernel makes none, and does not hang", async ({ skip }) => {
    skip(!existsSync("/proc/self"), "this system has no /proc");
    await expect(makeFolder("/proc/holdfast")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
