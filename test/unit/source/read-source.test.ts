import { realpathSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { NO_SOURCE_FACTS } from "../../../src/cache/source-facts.ts";
import { systemClock } from "../../../src/clock/system.ts";
import { HoldfastError } from "../../../src/core/errors.ts";
import { defaultLimits } from "../../../src/source/limits.ts";
import { readSource } from "../../../src/source/read-source.ts";
import { realRoot } from "../../../src/source/source-root.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { commitAll } from "../../support/git.ts";
import { team } from "../../support/manifests.ts";
import { mountVolume } from "../../support/mounted-volume.ts";
import { upstreamOf } from "../../support/upstream.ts";
import { folderOf, followedInto, signal, textsOf } from "./source.ts";

test("F58 a commit that arrives while another one is read has no part in it", async () => {
  const upstream = await upstreamOf({ "ml.yaml": team("ml"), "holdfast.yaml": "external: [team/a]\n" });
  const folder = await temporaryFolder();
  const { remote, commits } = followedInto(upstream.folder, folder);
  const first = await upstream.git("rev-parse", "HEAD");
  const stop = { clock: systemClock, signal };
  const options = { root: folder, cwd: folder, base: null, limits: defaultLimits, commits };
  const settled = { ignore: [], knownFiles: NO_SOURCE_FACTS, ref: null };
  using read = await readSource(
    options,
    // Once its configuration is read, the next commit is there and fetched.
    async () => {
      await upstream.commit({ "ml.yaml": team("ml", "bob@example.com"), "web.yaml": team("web") });
      await remote.fetch(stop);
      return settled;
    },
    stop,
  );
  expect(read.revision.commit).toBe(first);
  expect(read.revision.files.map(({ path }) => path)).toEqual(["ml.yaml"]);
  expect((await textsOf(read.revision.files))[0]).toBe(team("ml"));
  using next = await readSource({ ...options, before: read.revision }, async () => settled, stop);
  expect(next.revision.files.map(({ path }) => path)).toEqual(["ml.yaml", "web.yaml"]);
});

describe("a source that a link leads to", () => {
  /** A folder of the link and of two versions, and the source that the link is. */
  async function linked() {
    const folder = await folderOf({
      "1/a.yaml": team("a"),
      "1/b/b.yaml": team("b"),
      "2/a.yaml": team("a", "bob@example.com"),
      "2/holdfast.yaml": "external: [team/x]\n",
    });
    const link = join(folder, "current");
    symlinkSync("1", link);
    const swap = (version: string): void => {
      symlinkSync(version, `${link}.next`);
      renameSync(`${link}.next`, link);
    };
    const options = { root: link, cwd: await temporaryFolder(), base: null, limits: defaultLimits, commits: null };
    return { folder, link, swap, options };
  }
  const settled = { ignore: [], knownFiles: NO_SOURCE_FACTS, ref: null };

  test("F58 is read whole from the folder that it leads to at the end, where it is swapped meanwhile", async () => {
    const { folder, link, swap, options } = await linked();
    const configurations: unknown[] = [];
    using read = await readSource(
      options,
      async ({ isPresent }) => {
        configurations.push(isPresent);
        if (configurations.length > 1) return settled;
        swap("2");
        rmSync(join(folder, "1/b"), { recursive: true });
        return settled;
      },
      { clock: systemClock, signal },
    );
    expect(configurations).toEqual([false, true]);
    expect(read.revision.files.map(({ path }) => path)).toEqual(["a.yaml"]);
    expect((await textsOf(read.revision.files))[0]).toBe(team("a", "bob@example.com"));
    expect(resolve(options.cwd, read.revision.files[0]?.display ?? "")).toBe(join(link, "a.yaml"));
  });

  test("F58 a fault of the folder that was swapped away is not told, and a swap without end is", async () => {
    const { folder, swap, options } = await linked();
    let swaps = 0;
    const reading = readSource(
      options,
      async () => {
        swaps += 1;
        swap(swaps % 2 === 0 ? "1" : "2");
        throw new HoldfastError("invalid", "half of it is gone");
      },
      { clock: systemClock, signal },
    );
    await expect(reading).rejects.toThrow(`${join(folder, "current")} was swapped 3 times while it was read`);
    await expect(
      readSource(options, () => Promise.reject(new HoldfastError("invalid", "it is wrong")), {
        clock: systemClock,
        signal,
      }),
    ).rejects.toThrow("it is wrong");
  });
});

test("F58 a mounted ConfigMap is read by its folder, and its files are named as they are mounted", async () => {
  const { path } = await mountVolume({ "ml.yaml": team("ml") });
  const root = dirname(path("ml.yaml"));
  const options = { root, cwd: dirname(root), base: null, limits: defaultLimits, commits: null };
  const settled = { ignore: [], knownFiles: NO_SOURCE_FACTS, ref: null };
  using mounted = await readSource(options, async () => settled, { clock: systemClock, signal });
  expect(mounted.revision.files.map(({ path, display }) => [path, display])).toEqual([
    ["ml.yaml", `${basename(root)}/ml.yaml`],
  ]);
});

test("S4 a repository cannot lead out of itself, nor hide its files, by a link named as that of a ConfigMap", async () => {
  const outside = await folderOf({ "secret.yaml": team("secret") });
  const folder = await folderOf({ "ml.yaml": team("ml"), "..other/web.yaml": team("web") });
  symlinkSync(outside, join(folder, "..data"));
  expect(realRoot(folder)).toBe(realpathSync(folder));
  rmSync(join(folder, "..data"));
  symlinkSync("..other", join(folder, "..data"));
  await commitAll(folder, "Begin");
  expect(realRoot(folder)).toBe(realpathSync(folder));
});
