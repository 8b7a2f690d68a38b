import { expect, test } from "vitest";
import { askGates } from "./ask-gates.ts";
import { askRegistries } from "./ask-registries.ts";
import { seedOf } from "./sweep.ts";

const seed = seedOf();

test(`no content passes a gate without its answer, in 20,000 rounds of seed ${seed}`, {
  timeout: 600_000,
}, async () => {
  const seen = await askGates(seed, 20_000);
  process.stdout.write(`gates, seed ${seed}: ${JSON.stringify(Object.fromEntries(seen))}\n`);
  expect(seen.size).toBe(20);
});

test(`no gate over a metric or a job is open without green evidence, in 4,000 rounds of seed ${seed}`, {
  timeout: 600_000,
}, async () => {
  const seen = await askRegistries(seed, 4_000);
  process.stdout.write(`gates over metrics and jobs, seed ${seed}: ${JSON.stringify(Object.fromEntries(seen))}\n`);
  // Each of the three sorts was open, and had each fault.
  expect(seen.size).toBe(27);
});
