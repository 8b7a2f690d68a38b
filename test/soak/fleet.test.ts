import { expect, test } from "vitest";
import { startPostgres } from "../support/postgres.ts";
import { nothingFound, seedOf } from "./sweep.ts";
import { sweepFleet } from "./sweep-fleet.ts";

const seed = seedOf();
const seeds = process.env.SOAK === "all" ? 200 : Number(process.env.CASES ?? 10);

test.for(Array.from({ length: seeds }, (_, nth) => seed + nth))(
  "three processes that share passes lose and double nothing when some of them are lost, seed %i",
  async (one) => {
    await using postgres = await startPostgres();
    const options = { commits: 4, seed: one, isDocumentedOnly: one % 2 === 0, postgres };
    const { losses, slowestMs, ...found } = await sweepFleet(options);
    process.stdout.write(`a fleet, seed ${one}: ${losses} losses, the slowest ${Math.round(slowestMs)} ms\n`);
    expect(found).toEqual(nothingFound);
  },
);
