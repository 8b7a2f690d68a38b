import { expect, test } from "vitest";
import { predictGuards } from "../soak/predict-guards.ts";
import { seedOf } from "../soak/sweep.ts";

// Whoever sees it fail repeats it with SEED=…; `npm run soak` has three hundred situations.
const seed = seedOf();

test(`plan predicts what apply refuses, in 20 random situations of seed ${seed}`, async () => {
  const refusals = await predictGuards(seed, 20);
  expect(refusals.size).toBeGreaterThan(1);
});
