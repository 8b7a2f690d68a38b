import { describe, expect, test } from "vitest";
import { controlPlane, controlPlanes } from "./control-planes.ts";
import { sweepFaults } from "./fault-operations.ts";
import { sweepKillPoints } from "./kill-apply.ts";
import { sweepKilledDaemons } from "./kill-daemons.ts";
import { sweepRandomSteps } from "./random-steps.ts";
import type { Sizes } from "./sizes.ts";
import { sweepStoppedLeaders } from "./stop-leaders.ts";
import { nothingFound, seedOf } from "./sweep.ts";
import { sweepTwoWriters } from "./two-writers.ts";

/** Tests that no sweep of an apply finds anything. `SEED` repeats a run. */
export function testSweeps({ killPoints, faults, rounds, stops, commits, ...daemons }: Sizes, width: number): void {
  const seed = seedOf();

  describe.each(controlPlanes)("on a $name control plane", (sort) => {
    test("F32 an apply that is killed at any point is put right by the next one", async () => {
      expect(await sweepKillPoints(sort, { most: killPoints, seed, width })).toMatchObject(nothingFound);
    });

    test("F2 F3 F11 any fault on any operation is reported as it is, and put right by the next apply", async () => {
      expect(await sweepFaults(sort, { most: faults, seed, width })).toMatchObject(nothingFound);
    });

    test("F84 two writers at once write once, or say that there are two", async () => {
      expect(await sweepTwoWriters(sort, { rounds, seed, width })).toMatchObject(nothingFound);
    });

    test("F33 kills, faults and restarts in any order are put right by the next apply", async () => {
      expect(await sweepRandomSteps(sort, { commits, seed, width })).toMatchObject(nothingFound);
    });
  });

  test.each(["full", "documented-only"] as const)(
    "F31 F43 F62 of two daemons the other one goes on when one is killed or stopped at any moment, %s",
    async (name) => {
      expect(await sweepKilledDaemons(controlPlane(name), { ...daemons, seed })).toMatchObject(nothingFound);
    },
  );

  test("F34 a leader that sleeps through the end of its lease writes nothing afterwards", async () => {
    expect(await sweepStoppedLeaders({ most: stops, seed, width })).toMatchObject(nothingFound);
  });
}
