import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { randomRepository } from "./random-repository.ts";
import { type Readings, readEveryWay } from "./read-every-way.ts";

/** What reading random repositories in every way has found. */
export type UnequalReadings = {
  /** One line each, with what repeats it. */
  readonly found: readonly string[];
  /** How many of the checkouts git calls clean, which alone are compared. */
  readonly clean: number;
};

/** Reads random repositories in every way, and lists those whose readings are unequal. */
export async function findUnequalReadings({
  cases,
  seed,
}: {
  readonly cases: number;
  readonly seed: number;
}): Promise<UnequalReadings> {
  const found: string[] = [];
  let clean = 0;
  for (const repository of fc.sample(randomRepository, { numRuns: cases, seed })) {
    const readings = await readEveryWay(repository);
    if (readings.isClean) clean += 1;
    for (const what of unequalIn(readings)) found.push(`SEED=${seed}, ${what}: ${fc.stringify(repository)}`);
  }
  return { found, clean };
}

function unequalIn({ isClean, hasRun, remote, atBase, checkout, merged, ahead }: Readings): readonly string[] {
  return [
    ...(hasRun ? ["a filter or a monitor was run"] : []),
    ...(isDeepStrictEqual(atBase, remote) ? [] : ["--base and the remote differ"]),
    ...(isClean && !isDeepStrictEqual(checkout, remote) ? ["the checkout and the remote differ"] : []),
    ...(isClean && !isDeepStrictEqual(merged, ahead) ? ["the merge and its base differ"] : []),
  ];
}
