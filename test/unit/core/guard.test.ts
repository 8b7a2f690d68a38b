import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shrinkGuard } from "../../../src/core/guard.ts";

const names = (count: number) => Array.from({ length: count }, (_, index) => `team/t${index}`);

describe("the guard against a shrunken source", () => {
  test.each([
    [0, 0, false],
    [1, 0, true],
    [9, 1, false],
    [10, 6, true],
    [10, 7, false],
    [30, 21, false],
    [30, 20, true],
    [90, 63, false],
    [90, 62, true],
  ])("with %i recorded and %i still declared holds: %s", (recorded, declared, holds) => {
    const verdict = shrinkGuard(
      names(recorded),
      new Set([...names(declared), ...(declared > 0 ? ["cluster/new"] : [])]),
    );
    expect(verdict !== null).toBe(holds);
  });

  test("never counts new resources for lost ones", () => {
    expect(shrinkGuard(names(20), new Set(Array.from({ length: 50 }, (_, index) => `team/new${index}`)))).toMatch(
      /declares 0 of the 20/,
    );
  });

  test("holds exactly below seven tenths, whatever the number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 5_000 }), fc.integer({ min: 1, max: 5_000 }), (recorded, kept) => {
        fc.pre(kept <= recorded);
        expect(shrinkGuard(names(recorded), new Set(names(kept))) !== null).toBe(kept * 10 < recorded * 7);
      }),
      { numRuns: 50 },
    );
  });
});
