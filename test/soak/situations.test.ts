import { describe, expect, test } from "vitest";
import { randomFrom } from "../support/random.ts";
import { drawSituation } from "./situation.ts";
import { seedOf } from "./sweep.ts";
import { situationPlane, trySituation } from "./try-situation.ts";

const count = process.env.SOAK === "all" ? 1500 : 150;
const perPlane = 15;

describe.each(["full", "documented-only"] as const)("on a %s control plane", (name) => {
  const first = seedOf();
  test(`S71 what apply does is what plan said, in ${count} situations from seed ${first} on`, async () => {
    const found: string[] = [];
    const ends: Record<string, number> = {};
    const steps: Record<string, number> = {};
    for (let begin = first; begin < first + count; begin += perPlane) {
      const seeds = Array.from({ length: perPlane }, (_, nth) => begin + nth);
      const plane = await situationPlane(name, seeds);
      for (const seed of seeds) {
        const { end, faults, results } = await trySituation(plane, drawSituation(seed, randomFrom(seed)), {
          apart: seed % 15 === 0,
        });
        ends[end] = (ends[end] ?? 0) + 1;
        for (const result of results) steps[result] = (steps[result] ?? 0) + 1;
        for (const fault of faults) {
          found.push(`${seed}: ${fault}`);
          process.stdout.write(`SEED=${seed} ${name}: ${fault}\n`);
        }
      }
    }
    const all = `${JSON.stringify(ends)}, steps: ${JSON.stringify(steps)}`;
    process.stdout.write(`situations, ${name}, from seed ${first} on: ${all}\n`);
    expect(found).toEqual([]);
    // Many of them have something to compare; most tokens that are drawn may write little.
    expect(ends.applied).toBeGreaterThan(count / 2);
    expect((steps.created ?? 0) + (steps.updated ?? 0)).toBeGreaterThan(count / 4);
  });
});
