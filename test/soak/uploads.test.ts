import { expect, test } from "vitest";
import { seedOf } from "./sweep.ts";
import { sweepUploads } from "./sweep-uploads.ts";

const seed = seedOf();

test.each(["folder", "served", "bucket"] as const)(
  `an upload that is killed anywhere is continued by the next run, %s, seed ${seed}`,
  async (place) => {
    const { faults, ...counts } = await sweepUploads(place, { most: Number(process.env.CASES ?? 10_000), seed });
    process.stdout.write(`uploads, ${place}, seed ${seed}: ${JSON.stringify(counts)}\n`);
    expect(faults).toEqual([]);
  },
);
