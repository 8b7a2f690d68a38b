import { expect, test } from "vitest";
import { seedOf } from "../soak/sweep.ts";
import { sweepStages } from "../soak/sweep-stages.ts";

// `npm run soak` has the long form.
test("production never begins a commit before staging has passed it", async () => {
  const seed = seedOf();
  const { faults, ...counts } = await sweepStages({ cases: 3, seed, isDocumentedOnly: seed % 2 === 0 });
  process.stdout.write(`stages, seed ${seed}: ${JSON.stringify(counts)}\n`);
  expect(faults).toEqual([]);
});
