import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchSource } from "../../../src/source/watch-source.ts";
import { folderOf, write } from "./source.ts";

/** Watches a folder; `next` resolves with the next call of onChange that has not been waited for. */
async function watching(root: string, options: { paths?: readonly string[]; ignore?: readonly string[] } = {}) {
  const stop = new AbortController();
  const seen = { count: 0, waitedFor: 0 };
  let wake = Promise.withResolvers<void>();
  onTestFinished(() => stop.abort());
  const onChange = () => {
    seen.count++;
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const trouble: unknown[] = [];
  await watchSource({ ...options, root, onChange, onTrouble: (error) => trouble.push(error) }, { signal: stop.signal });
  const next = async () => {
    while (seen.count === seen.waitedFor) await wake.promise;
    seen.waitedFor = seen.count;
  };
  return { next, seen, stop, trouble };
}

test("a change of any sort is told: new, changed, replaced, moved, removed, in new folders too", async () => {
  const root = await folderOf({ "a.yaml": "1" });
  const { next, trouble } = await watching(root);
  write(root, { "a.yaml": "2" });
  await next();
  write(root, { "b.json": "1" });
  await next();
  write(root, { ".a.yaml.tmp": "3" });
  renameSync(join(root, ".a.yaml.tmp"), join(root, "a.yaml"));
  await next();
  mkdirSync(join(root, "new/deeper"), { recursive: true });
  writeFileSync(join(root, "new/deeper/c.yml"), "1");
  await next();
  write(root, { "new/deeper/c.yml": "2" });
  await next();
  rmSync(join(root, "new"), { recursive: true });
  await next();
  expect(trouble).toEqual([]);
});

test("many changes at once are told once or twice, not each", async () => {
  const root = await folderOf({});
  const { next, seen } = await watching(root);
  write(root, Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`f${n}.yaml`, "x"])));
  await next();
  expect(seen.count).toBeLessThanOrEqual(3);
});

test("what is never read is not told of", async () => {
  const root = await folderOf({ "a.yaml": "", "state/x": "", ".git/x": "", "node_modules/x": "" });
  const { next, seen } = await watching(root, { ignore: [join(root, "state")] });
  write(root, { "state/b.yaml": "", ".git/c.yaml": "", "node_modules/d.json": "", "notes.txt": "" });
  write(root, { "a.yaml": "changed" });
  await next();
  expect(seen.count).toBe(1);
});

test("the ignore files and the configuration are told of", async () => {
  const root = await folderOf({ "manifests/a.yaml": "" });
  const { next } = await watching(root, { paths: ["manifests"] });
  write(root, { "holdfast.yaml": "paths: [manifests]\n" });
  await next();
  write(root, { "manifests/.gitignore": "x\n" });
  await next();
});

test("nothing is reported after the stop", async () => {
  const root = await folderOf({ "a.yaml": "" });
  const { seen, stop } = await watching(root);
  stop.abort();
  const other = await watching(root);
  write(root, { "a.yaml": "changed" });
  await other.next();
  expect(seen.count).toBe(0);
});
