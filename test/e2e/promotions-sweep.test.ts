import { expect, test } from "vitest";
import { sweepPromotions } from "../soak/promotions.ts";
import { seedOf } from "../soak/sweep.ts";

test("no target runs a content without a green, current receipt, whatever its gates and the process do", async () => {
  const seed = seedOf();
  const swept = await sweepPromotions({ stages: 2, columns: 4, promotions: 20, seed });
  process.stdout.write(`promotions, seed ${seed}: ${JSON.stringify(swept)}\n`);
  expect(swept.wrong).toEqual([]);
  expect(swept.applied + swept.stopped).toBeGreaterThan(0);
});
