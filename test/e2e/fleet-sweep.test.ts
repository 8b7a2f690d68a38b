import { expect, test } from "vitest";
import { nothingFound, seedOf } from "../soak/sweep.ts";
import { sweepFleet } from "../soak/sweep-fleet.ts";
import { ownPostgres } from "../support/own-postgres.ts";

// `npm run soak` has the long form.
test("F31 F34 F43 F62 F64 three processes that share passes lose and double nothing when some of them are lost", async ({
  skip,
}) => {
  const postgres = await ownPostgres(skip);
  const seed = seedOf();
  const {
    losses,
    slowestMs: _,
    ...found
  } = await sweepFleet({
    ...{ commits: 1, seed, isDocumentedOnly: seed % 2 === 0, postgres },
  });
  process.stdout.write(`a fleet, seed ${seed}: ${losses} losses\n`);
  expect(found).toEqual(nothingFound);
});
