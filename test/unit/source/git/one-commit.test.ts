import fc from "fast-check";
import { expect, test } from "vitest";
import { type RandomRepository, randomRepository } from "./random-repository.ts";
import { readEveryWay } from "./read-every-way.ts";

// The long form, of other repositories each time: RANDOM_REPOSITORIES=2000.
const { RANDOM_REPOSITORIES, SEED = RANDOM_REPOSITORIES === undefined ? 2 : Date.now() % 1e9 } = process.env;
const cases = Number(RANDOM_REPOSITORIES ?? 10);
const seed = Number(SEED);
let clean = 0;

async function expectOneReading(repository: RandomRepository): Promise<void> {
  const { isClean, hasRun, remote, atBase, checkout, merged, ahead } = await readEveryWay(repository);
  expect(hasRun).toBe(false);
  expect(atBase).toEqual(remote);
  if (!isClean) return;
  clean += 1;
  expect(checkout).toEqual(remote);
  expect(merged).toEqual(ahead);
}

test(`a commit gives the same manifests from a checkout, from --base, and from a remote (SEED=${seed})`, {
  timeout: 60_000 + cases * 5000,
}, async () => {
  await fc.assert(fc.asyncProperty(randomRepository, expectOneReading), { numRuns: cases, seed });
  expect(clean).toBeGreaterThan(cases / 3);
});
