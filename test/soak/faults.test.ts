import { expect, test } from "vitest";
import { faultyControlPlanes, sweepFaults } from "./fault-operations.ts";
import { nothingFound, seedOf } from "./sweep.ts";

test.each(faultyControlPlanes)(
  "any fault on any operation of a $name control plane is told as it is, and put right by the next apply",
  async (sort) => {
    const most = Number(process.env.SOAK_FAULTS ?? Number.POSITIVE_INFINITY);
    expect(await sweepFaults(sort, { most, seed: seedOf(), width: 4 })).toMatchObject(nothingFound);
  },
);
