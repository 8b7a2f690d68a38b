import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { parseKey } from "../../../src/seal/seal-key.ts";
import { readSealed, writeSealed } from "../../../src/seal/sealed-file.ts";
import { temporaryFolder } from "../../support/folder.ts";

const key = parseKey("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
const kept = (path: string) => readSealed(path, key, "n")?.toString() ?? null;

describe("a sealed file", () => {
  test("returns the written text, under the same name only", async () => {
    const path = join(await temporaryFolder(), "cache", "one");
    writeSealed(path, { key, name: "n", clock: systemClock }, "content");
    expect(kept(path)).toBe("content");
    expect(readSealed(path, key, "other")).toBeNull();
  });

  test("is the same for whole content and for chunks", async () => {
    const path = join(await temporaryFolder(), "one");
    function* pieces() {
      yield "con";
      yield "";
      yield "tent ü";
    }
    writeSealed(path, { key, name: "n", clock: systemClock }, pieces());
    expect(kept(path)).toBe("content ü");
  });

  test("B20: is null when the path is something else", async () => {
    const folder = await temporaryFolder();
    const places = ["pipe", "link", "folder", "device"].map((name) => join(folder, name));
    const [pipe = "", link = "", inner = "", device = ""] = places;
    execFileSync("mkfifo", [pipe]);
    writeSealed(join(folder, "real"), { key, name: "n", clock: systemClock }, "content");
    symlinkSync(join(folder, "real"), link);
    mkdirSync(inner);
    symlinkSync("/dev/zero", device);
    expect(places.map(kept)).toEqual([null, null, null, null]);
  });

  test("returns the error when it cannot be written", async () => {
    const folder = await temporaryFolder();
    writeFileSync(join(folder, "file"), "");
    const path = join(folder, "file", "one");
    writeSealed(path, { key, name: "n", clock: systemClock }, "content");
    expect(kept(path)).toBeNull();
  });

  test("deletes what killed runs have left, and nothing that may be in use", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "one");
    const [old, fresh] = [`${path}.old`, `${path}.fresh`];
    for (const left of [old, fresh]) writeFileSync(left, "");
    utimesSync(old, new Date(0), new Date(0));
    writeSealed(path, { key, name: "n", clock: systemClock }, "content");
    expect(readdirSync(folder).toSorted()).toEqual(["one", "one.fresh"]);
    rmSync(fresh);
  });
});
