import { expect, test } from "vitest";
import { findUnequalReadings } from "../unit/source/git/find-unequal-readings.ts";
import { seedOf } from "./sweep.ts";

const count = Number(process.env.RANDOM_REPOSITORIES ?? 2000);
const seed = seedOf();

test(`a commit gives the same manifests from a checkout, from --base, and from a remote, in ${count} repositories of seed ${seed}`, async () => {
  const { found, clean } = await findUnequalReadings({ cases: count, seed });
  process.stdout.write(
    `${count} random repositories, seed ${seed}: ${clean} clean checkouts, ${found.length} unequal\n`,
  );
  expect(found).toEqual([]);
  // Most of them have something to compare.
  expect(clean).toBeGreaterThan(count / 3);
});
