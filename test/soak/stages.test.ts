import { expect, test } from "vitest";
import { seedOf } from "./sweep.ts";
import { sweepStages } from "./sweep-stages.ts";

const seed = seedOf();
const cases = process.env.SOAK === "all" ? 1000 : Number(process.env.CASES ?? 150);

test.each([
  { name: "full" },
  { name: "full, without a soak", soakMs: 0 },
  { name: "documented-only", isDocumentedOnly: true },
])(
  `production never begins a commit before staging has passed it, $name, seed ${seed}`,
  async ({ name: _, ...size }) => {
    const { faults, ...counts } = await sweepStages({ cases, seed, ...size });
    process.stdout.write(`stages, seed ${seed}: ${JSON.stringify(counts)}\n`);
    expect(faults).toEqual([]);
  },
);
