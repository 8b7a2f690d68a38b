import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../../../src/store/make-folder.ts";

const fresh = (): string => mkdtempSync(join(tmpdir(), "holdfast-folder-"));

describe("a folder of the user", () => {
  it("is made beside others at the same time, below one that is not there yet", async () => {
    const top = join(fresh(), "a");
    const paths = Array.from({ length: 20 }, (_, at) => join(top, "b", `${at}`));
    await Promise.all(paths.map((path) => makeFolder(path)));
    expect(readdirSync(join(top, "b"))).toHaveLength(20);
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

  it.runIf(existsSync("/proc/self"))("is refused where the kernel makes none, and does not hang", async () => {
    await expect(makeFolder("/proc/holdfast")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
