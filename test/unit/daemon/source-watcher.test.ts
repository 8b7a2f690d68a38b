import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { createSourceWatcher } from "../../../src/daemon/source-watcher.ts";
import { realRoot } from "../../../src/source/source-root.ts";
import { commitAll, git } from "../../support/git.ts";
import { mountVolume } from "../../support/mounted-volume.ts";
import { sourceOf } from "../../support/source.ts";

/** A watcher of a folder; `changed` resolves at the next change since it was called. */
function watching(root: string, watchesCommits: boolean) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const trouble: unknown[] = [];
  let change = Promise.withResolvers<void>();
  const changed = async (does: () => Promise<unknown>): Promise<void> => {
    change = Promise.withResolvers();
    await does();
    await change.promise;
  };
  const onTrouble = (error: unknown): void => void trouble.push(error);
  return {
    changed,
    trouble,
    ...createSourceWatcher(
      { clock: systemClock, root, onChange: () => change.resolve(), onTrouble, isMeant: () => true, watchesCommits },
      stop,
    ),
  };
}

test.each([
  // Its folder, and the link in it.
  "",
  "..data",
])("F58 a volume that is swapped as a whole is told of, and what changes in it from then on, by %j", async (named) => {
  const { path, swap } = await mountVolume({ "a.yaml": "1" });
  const root = join(dirname(path("a.yaml")), named);
  const { changed, follow, trouble } = watching(root, false);
  expect(await follow(null)).toBe(true);
  await changed(() => swap({ "a.yaml": "2" }));
  expect(await follow(null)).toBe(true);
  expect(await follow(null)).toBe(false);
  await changed(() => writeFile(join(realRoot(root), "b.yaml"), "1"));
  expect(trouble).toEqual([]);
});

test("a commit, a switch and an abort that change no file are told of where commits count", async () => {
  const { folder } = await sourceOf({ "a.yaml": "1" });
  await commitAll(folder, "Begin");
  const { changed, follow, trouble } = watching(folder, true);
  await follow(null);
  await changed(() => git(folder, "commit", "--quiet", "--allow-empty", "--message", "Nothing"));
  await changed(() => git(folder, "switch", "--quiet", "--create", "other"));
  await changed(() => git(folder, "bisect", "start"));
  await changed(() => git(folder, "bisect", "reset"));
  expect(trouble).toEqual([]);
});
