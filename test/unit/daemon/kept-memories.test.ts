import { expect, test } from "vitest";
import type { Identity } from "../../../src/core/manifest.ts";
import { keptMemories } from "../../../src/daemon/kept-memories.ts";
import type { ReadMemory } from "../../../src/engine/load/pass-memory.ts";
import { NO_MEMORY } from "../../../src/state/target-store.ts";

// Only the number of manifests counts.
const memoryOf = (manifests: number): ReadMemory =>
  ({
    ...NO_MEMORY,
    lastApplied: { desired: { manifests: Array.from({ length: manifests }, (_, nth): Identity => `team/t${nth}`) } },
  }) as unknown as ReadMemory;

test("targets whose passes were longest ago are forgotten first, as soon as all have too many manifests", () => {
  const memories = keptMemories(10);
  const released: string[] = [];
  const keep = (target: string, manifests: number): void =>
    memories.keep(target, memoryOf(manifests), () => released.push(target));
  keep("a", 4);
  keep("b", 4);
  const again = memories.take("a");
  if (again !== null) memories.keep("a", again, () => released.push("a"));
  expect(released).toEqual([]);
  keep("c", 5);
  expect(released).toEqual(["b"]);
  expect(memories.take("b")).toBeNull();
  expect(memories.take("a")).toBe(again);
});

test("a target with more manifests than may be kept is forgotten when the next one has had its pass", () => {
  const memories = keptMemories(10);
  memories.keep("large", memoryOf(100), () => {});
  expect(memories.take("large")).not.toBeNull();
  memories.keep("large", memoryOf(100), () => {});
  memories.keep("other", memoryOf(1), () => {});
  expect(memories.take("large")).toBeNull();
  expect(memories.take("other")).not.toBeNull();
});

test("what cannot be read again is kept, and so is what a pass uses, also for the daemon after this one", () => {
  const memories = keptMemories(10);
  memories.keep("folder", memoryOf(20), null);
  memories.keep("used", memoryOf(5), () => {});
  memories.take("used");
  memories.keep("b", memoryOf(5), () => {});
  const next = memories.only(["folder", "used"]);
  expect(next.take("folder")).not.toBeNull();
  expect(next.take("used")).not.toBeNull();
  expect(next.take("b")).toBeNull();
  memories.forget("folder");
  expect(memories.take("folder")).toBeNull();
});
