import { expect, test } from "vitest";
import { drawSituation } from "../soak/situation.ts";
import { seedOf } from "../soak/sweep.ts";
import { situationPlane, trySituation } from "../soak/try-situation.ts";
import { randomFrom } from "../support/random.ts";

// Whoever sees it fail repeats it with SEED=…; `npm run soak` draws three hundred.
const count = 8;
const first = seedOf();

test.each(["full", "documented-only"] as const)(
  `S71 what apply does is what plan said, in ${count} situations from seed ${first} on, on a %s control plane`,
  async (name) => {
    const seeds = Array.from({ length: count }, (_, nth) => first + nth);
    const plane = await situationPlane(name, seeds);
    const found: Record<number, readonly string[]> = {};
    for (const seed of seeds) {
      const { faults } = await trySituation(plane, drawSituation(seed, randomFrom(seed)), { apart: seed === first });
      if (faults.length > 0) found[seed] = faults;
    }
    expect(found).toEqual({});
  },
);
