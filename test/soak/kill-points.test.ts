import { expect, test } from "vitest";
import { controlPlanes } from "./control-planes.ts";
import { sweepKillPoints } from "./kill-apply.ts";
import { nothingFound, seedOf } from "./sweep.ts";

test.each(controlPlanes)(
  "an apply that is killed at any point, on a $name control plane, is put right by the next",
  async (sort) => {
    const most = Number(process.env.SOAK_KILL_POINTS ?? Number.POSITIVE_INFINITY);
    expect(await sweepKillPoints(sort, { most, seed: seedOf(), width: 4 })).toMatchObject(nothingFound);
  },
);
