import { expect, test } from "vitest";
import { seedOf } from "../../../soak/sweep.ts";
import { findUnequalReadings } from "./find-unequal-readings.ts";

// Other repositories each time; `npm run soak` has two thousand.
const cases = 4;
const seed = seedOf();

test(`a commit gives the same manifests from a checkout, from --base, and from a remote (SEED=${seed})`, async () => {
  const { found } = await findUnequalReadings({ cases, seed });
  expect(found).toEqual([]);
});
