import { expect, test } from "vitest";
import { askRegistries } from "../soak/ask-registries.ts";
import { sweepPromotions } from "../soak/promotions.ts";
import { seedOf } from "../soak/sweep.ts";

test("no target runs a content without a green, current receipt, whatever its gates and the process do", async () => {
  const seed = seedOf();
  const swept = await sweepPromotions({ stages: 2, columns: 4, promotions: 20, seed });
  process.stdout.write(`promotions, seed ${seed}: ${JSON.stringify(swept)}\n`);
  expect(swept.wrong).toEqual([]);
  expect(swept.applied + swept.stopped).toBeGreaterThan(0);
});

test("no gate over a metric or a job is open without green evidence", async () => {
  const seed = seedOf();
  const seen = await askRegistries(seed, 100);
  process.stdout.write(`gates over metrics and jobs, seed ${seed}: ${JSON.stringify(Object.fromEntries(seen))}\n`);
  expect(seen.size).toBeGreaterThan(5);
});
