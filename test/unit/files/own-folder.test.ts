import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ensureOwnFolder, requireOwnFolder } from "../../../src/files/own-folder.ts";
import { asUser, needsRoot } from "../../support/as-root.ts";
import { temporaryFolder } from "../../support/folder.ts";

async function folder(mode: number): Promise<string> {
  const path = join(await temporaryFolder(), "state");
  mkdirSync(path);
  chmodSync(path, mode);
  // Other users must get there.
  chmodSync(dirname(path), 0o755);
  return path;
}

const inContent = { isContent: true };

describe("S40 a folder of the user", () => {
  test.each(["700", "750", "755"])("S40 is one with mode %s", async (mode) => {
    const path = await folder(Number.parseInt(mode, 8));
    requireOwnFolder(path);
    requireOwnFolder(path, inContent);
  });

  test("S40 is refused when it is a link or a file", async () => {
    const path = await folder(0o700);
    symlinkSync(path, `${path}-link`);
    writeFileSync(`${path}-file`, "");
    for (const options of [{}, inContent]) {
      expect(() => requireOwnFolder(`${path}-link`, options)).toThrow(`${path}-link is a symbolic link`);
      expect(() => requireOwnFolder(`${path}-file`, options)).toThrow(`${path}-file is no folder`);
    }
    expect(() => ensureOwnFolder(`${path}-link`)).toThrow("a symbolic link");
  });

  test.each(["702", "777", "1777"])("S40 is refused with mode %s, since others can write it", async (mode) => {
    const path = await folder(Number.parseInt(mode, 8));
    for (const options of [{}, inContent]) {
      expect(() => requireOwnFolder(path, options)).toThrow(`${path}: others can write it; run chmod go-w on it`);
    }
  });

  test("S40 is created for its owner alone", async () => {
    const path = join(await temporaryFolder(), "state");
    ensureOwnFolder(path);
    ensureOwnFolder(path);
    expect(statSync(path).mode & 0o777).toBe(0o700);
  });

  test("S40 is refused when it belongs to another user, also for root", async (context) => {
    needsRoot(context);
    const path = await folder(0o700);
    chownSync(path, 12_345, 12_345);
    for (const options of [{}, inContent]) {
      expect(() => requireOwnFolder(path, options)).toThrow(`${path} belongs to another user (uid 12345)`);
    }
  });

  test("S40 may belong to root outside the source, when a group of the user may write it; inside the source it may not", async (context) => {
    needsRoot(context);
    const path = await folder(0o2775);
    chownSync(path, 0, 54_321);
    asUser({ uid: 12_345, groups: [54_321] }, () => {
      requireOwnFolder(path);
      const inner = join(path, "tokens");
      ensureOwnFolder(inner);
      // As the volume is mounted the next time.
      chmodSync(inner, 0o2770);
      requireOwnFolder(inner);
      expect(() => requireOwnFolder(path, inContent)).toThrow("belongs to another user (uid 0)");
    });
    chmodSync(path, 0o2777);
    asUser({ uid: 12_345, groups: [54_321] }, () => {
      // Not a mount of its own, as Kubernetes' emptyDir is.
      expect(() => requireOwnFolder(path)).toThrow("belongs to another user (uid 0)");
    });
  });

  test("S40 may be open to the user's own group, where each user has one", async (context) => {
    needsRoot(context);
    const path = await folder(0o775);
    chownSync(path, 12_345, 12_345);
    asUser({ uid: 12_345, groups: [12_345] }, () => requireOwnFolder(path, inContent));
    chownSync(path, 12_345, 54_321);
    asUser({ uid: 12_345, groups: [54_321] }, () => {
      expect(() => requireOwnFolder(path, inContent)).toThrow("others can write it");
    });
  });
});
