import { realpathSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSourceWatcher } from "../../../src/daemon/source-watcher.ts";
import { mountVolume } from "../../support/mounted-volume.ts";

test("a volume that is swapped as a whole is told of, and what changes in it from then on", async () => {
  const { path, swap } = await mountVolume({ "a.yaml": "1" });
  const root = join(dirname(path("a.yaml")), "..data");
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const trouble: unknown[] = [];
  let changed = Promise.withResolvers<void>();
  const onTrouble = (error: unknown): void => void trouble.push(error);
  const watcher = createSourceWatcher({ root, onChange: () => changed.resolve(), onTrouble }, stop);
  expect(await watcher.follow(null)).toBe(true);
  await swap({ "a.yaml": "2" });
  await changed.promise;
  changed = Promise.withResolvers();
  expect(await watcher.follow(null)).toBe(true);
  expect(await watcher.follow(null)).toBe(false);
  await writeFile(join(realpathSync(root), "b.yaml"), "1");
  await changed.promise;
  expect(trouble).toEqual([]);
});
