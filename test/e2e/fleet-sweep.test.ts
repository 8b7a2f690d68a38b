import { expect, test } from "vitest";
import { nothingFound, seedOf } from "../soak/sweep.ts";
import { sweepFleet } from "../soak/sweep-fleet.ts";
import { startPostgres } from "../support/postgres.ts";

// `npm run soak` has the long form.
test("F31 F34 F43 F62 F64 three processes that share passes lose and double nothing when some of them are lost", async ({
  skip,
}) => {
  const started = await startPostgres().catch((error: Error) => error);
  if (started instanceof Error) return skip(`PostgreSQL does not start here: ${started.message}`);
  await using postgres = started;
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
