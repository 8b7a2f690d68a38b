import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/clock/system.ts";
import { Secret } from "../../../../src/contract/secret.ts";
import { fileSink } from "../../../../src/engine/sinks/file.ts";
import { needsPermissions } from "../../../support/as-root.ts";
import { temporaryFolder } from "../../../support/folder.ts";

const token = new Secret("CANARY-token");

async function kept(monotonic = systemClock.monotonic) {
  const state = await temporaryFolder();
  const sink = fileSink({ folder: state, server: "Control.Plane:7071", clock: { ...systemClock, monotonic } });
  return { state, sink, folder: join(state, "tokens", "control.plane_7071", "virtual-account") };
}

describe("the file sink", () => {
  test("keeps a token in a file of its own that only its owner reads, and says where", async () => {
    const { sink, folder } = await kept();
    const location = await sink.deliver("virtual-account/ci", token);
    expect(location).toBe(join(folder, "ci"));
    expect(await readFile(location, "utf8")).toBe("CANARY-token\n");
    expect((await stat(location)).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readdir(folder)).toEqual(["ci"]);
  });

  test("never overwrites a token: another one gets a place beside it", async () => {
    const { sink, folder } = await kept();
    const first = await sink.deliver("virtual-account/ci", token);
    const second = await sink.deliver("virtual-account/ci", new Secret("other"));
    const third = await sink.deliver("virtual-account/ci", new Secret("third"));
    expect([second, third]).toEqual([join(folder, "ci.2"), join(folder, "ci.3")]);
    expect(await readFile(first, "utf8")).toBe("CANARY-token\n");
  });

  test("delivers the same token to the same place, also after a crash in between", async () => {
    const { sink, folder } = await kept();
    await sink.deliver("virtual-account/ci", token);
    expect(await sink.deliver("virtual-account/ci", token)).toBe(join(folder, "ci"));
    expect(await readdir(folder)).toEqual(["ci"]);
  });

  test("takes many at once without losing one", async () => {
    const { sink, folder } = await kept();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => sink.deliver("virtual-account/ci", new Secret(`t${index}`))),
    );
    const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
    expect(new Set(texts).size).toBe(20);
  });

  test.each(["../../../../escape", "a/b", "..", ".", "a\u0000b", "nl\n"])(
    "makes one harmless file name of %j",
    async (key) => {
      const { sink, folder } = await kept();
      const location = await sink.deliver(`virtual-account/${key}`, token);
      expect(dirname(location)).toBe(folder);
    },
  );

  test("is checked without leaving anything behind", async () => {
    const { sink, folder } = await kept();
    await sink.check("virtual-account/ci");
    expect(await readdir(folder)).toEqual([]);
  });

  test("is checked once for all who ask at the same time or soon afterwards, and anew for whoever asks later", async () => {
    let now = 0;
    const { state, sink, folder } = await kept(() => now);
    const accounts = ["a", "b", "c"].map((name) => `virtual-account/${name}`);
    await Promise.all(accounts.map((one) => sink.check(one)));
    expect(await readdir(folder)).toEqual([]);
    await rm(join(state, "tokens"), { recursive: true });
    await writeFile(join(state, "tokens"), "in the way");
    now = 99;
    await sink.check("virtual-account/d");
    now = 100;
    const [first, ...others] = await Promise.allSettled(accounts.map((one) => sink.check(one)));
    expect(first).toMatchObject({ status: "rejected" });
    expect(others).toEqual([first, first]);
  });

  test("fails its check where a token could not be kept", async () => {
    const { state, sink } = await kept();
    await writeFile(join(state, "tokens"), "in the way");
    await expect(sink.check("virtual-account/ci")).rejects.toThrow(/tokens is no folder/);
  });

  test("fails its check in a folder that cannot be written", async (context) => {
    needsPermissions(context);
    const { sink, folder } = await kept();
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o500);
    await expect(sink.check("virtual-account/ci")).rejects.toThrow(/EACCES/);
  });
});
