import { expect, test } from "vitest";
import { faultyControlPlanes } from "./fault-operations.ts";
import { sweepStoppedLeaders } from "./stop-leaders.ts";
import { nothingFound, seedOf } from "./sweep.ts";
import { sweepTwoWriters } from "./two-writers.ts";

test.each(faultyControlPlanes)("two writers at once on a $name control plane write once, or say so", async (sort) => {
  const rounds = Number(process.env.SOAK_ROUNDS ?? 40);
  expect(await sweepTwoWriters(sort, { rounds, seed: seedOf(), width: 3 })).toMatchObject(nothingFound);
});

test("a leader that sleeps through the end of its lease writes nothing afterwards", async () => {
  const most = Number(process.env.SOAK_STOPS ?? Number.POSITIVE_INFINITY);
  expect(await sweepStoppedLeaders({ most, seed: seedOf(), width: 4 })).toMatchObject(nothingFound);
});
