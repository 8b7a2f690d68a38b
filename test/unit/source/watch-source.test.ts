import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { claimsType } from "../../../src/manifests/claims-type.ts";
import { type WatchOptions, watchSource } from "../../../src/source/watch-source.ts";
import { standingClock } from "../../support/standing-clock.ts";
import { folderOf, write } from "./source.ts";

/** Longer than any test may take. */
const FOR_EVER_MS = 3_600_000;

/** Watches a folder; `next` resolves with the next call of onChange that has not been waited for. */
async function watching(root: string, options: Partial<WatchOptions> = {}) {
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
  const { settled } = await watchSource(
    { clock: systemClock, isMeant: claimsType, ...options, root, onChange, onTrouble: (error) => trouble.push(error) },
    { signal: stop.signal },
  );
  const next = async () => {
    while (seen.count === seen.waitedFor) await wake.promise;
    seen.waitedFor = seen.count;
  };
  return { next, seen, stop, trouble, settled };
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

describe("a file that is written in place", () => {
  const half = "type: team\nname: [ml";
  const whole = "type: team\nname: ml";

  test("is waited for until it parses, with the other files; a missing final newline does not matter", async () => {
    const root = await folderOf({ "a.yaml": whole, "b.yaml": whole });
    const { next, seen, settled } = await watching(root, { maxWaitMs: FOR_EVER_MS });
    write(root, { "a.yaml": half });
    const begun = performance.now();
    write(root, { "b.yaml": `${whole}2` });
    await setTimeout(600);
    expect(seen.count).toBe(0);
    write(root, { "a.yaml": whole });
    await next();
    expect(performance.now() - begun).toBeGreaterThan(890);
    await settled();
  });

  test("is waited for while it grows", async () => {
    const root = await folderOf({ "a.yaml": "" });
    const { clock, pass, run } = standingClock();
    const { next, seen } = await watching(root, { clock });
    // All of them in the time for which the watch waits after each, whenever the events arrive.
    for (const line of ["type: team\n", "name: ml\n", "members:\n", "  - a@example.com\n"]) {
      appendFileSync(join(root, "a.yaml"), line);
      await setTimeout(100);
      pass(70);
      await setTimeout(100);
    }
    expect(seen.count).toBe(0);
    run();
    await next();
    expect(seen.count).toBe(1);
  });

  test("that never parses is reported like any other in the end", async () => {
    const root = await folderOf({});
    const { next } = await watching(root, { maxWaitMs: 800 });
    const begun = performance.now();
    write(root, { "a.yaml": half });
    await next();
    expect(performance.now() - begun).toBeGreaterThan(700);
  });

  test("is not waited for where it is another tool's", async () => {
    const root = await folderOf({ "a.yaml": whole, "chart.yaml": "name: {{ x }}\n" });
    const { next } = await watching(root, { maxWaitMs: FOR_EVER_MS });
    write(root, { "chart.yaml": "name: {{ y }}\nitems: [\n" });
    await next();
  });

  test("is not what one is that arrives by rename: that is reported at once, whether it parses or not", async () => {
    const root = await folderOf({ "a.yaml": whole });
    const { next } = await watching(root, { maxWaitMs: FOR_EVER_MS });
    write(root, { "a.tmp": half });
    await setTimeout(50);
    renameSync(join(root, "a.tmp"), join(root, "a.yaml"));
    await next();
  });
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
