import { expect, test } from "vitest";
import { createIdGenerator } from "../../../src/server/database/id-generator.ts";
import { machine } from "../../support/machine.ts";

test("ids grow, also within a millisecond and when the clock is set back", () => {
  const times = [5000, 5000, 5000, 4000, 4000, 6000, 5999];
  let at = 0;
  const newId = createIdGenerator({ ...machine.clock, now: () => times[at++] ?? 0 }, machine.random);
  const ids = times.map(newId);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("ten thousand in one millisecond still grow", () => {
  const newId = createIdGenerator({ ...machine.clock, now: () => 1 }, machine.random);
  const ids = Array.from({ length: 10_000 }, newId);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(10_000);
});
