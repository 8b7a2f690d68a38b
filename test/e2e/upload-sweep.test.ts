import { expect, test } from "vitest";
import { seedOf } from "../soak/sweep.ts";
import { sweepUploads } from "../soak/sweep-uploads.ts";

// `npm run soak` has the long form.
test("an upload that is killed is continued by the next run, without a second stage", async () => {
  const seed = seedOf();
  const place = (["folder", "served", "bucket"] as const)[seed % 3] ?? "folder";
  const { faults, ...counts } = await sweepUploads(place, { most: 4, seed });
  process.stdout.write(`uploads, seed ${seed}: ${JSON.stringify(counts)}\n`);
  expect(faults).toEqual([]);
});
