import { expect, test } from "vitest";
import { sweepPromotions } from "./promotions.ts";
import { seedOf } from "./sweep.ts";

test("no target runs a content without a green, current receipt: 1,000 promotions over 5 stages of 20 targets", async () => {
  const seed = seedOf();
  const swept = await sweepPromotions({ stages: 5, columns: 20, promotions: 1000, seed });
  process.stdout.write(`promotions, seed ${seed}: ${JSON.stringify(swept)}\n`);
  expect(swept.wrong).toEqual([]);
  expect(Math.min(swept.applied, swept.proposed, swept.stopped)).toBeGreaterThan(100);
});
