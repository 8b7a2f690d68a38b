import { expect, test } from "vitest";
import { predictGuards } from "../soak/predict-guards.ts";
import { seedOf } from "../soak/sweep.ts";

// Whoever sees it fail repeats it with SEED=…; `npm run soak` has three hundred situations.
const seed = seedOf();

test(`plan predicts what apply refuses, in 40 random situations of seed ${seed}`, { timeout: 60_000 }, async () => {
  const refusals = await predictGuards(seed, 40);
  expect(refusals.size).toBeGreaterThan(1);
});
