import { expect, test } from "vitest";
import { predictGuards } from "./predict-guards.ts";
import { seedOf } from "./sweep.ts";

const seed = seedOf();

test(`plan predicts what apply refuses, in 300 random situations of seed ${seed}`, { timeout: 600_000 }, async () => {
  const refusals = await predictGuards(seed, 300);
  process.stdout.write(`guard predictions, seed ${seed}: ${JSON.stringify(Object.fromEntries(refusals))}\n`);
  const risks = ["adopts", "privilege-growth", "scale-to-zero", "exposure", "secret-removed", "reverts"];
  expect(["none", "source", "live", ...risks].filter((why) => !refusals.has(why))).toEqual([]);
});
