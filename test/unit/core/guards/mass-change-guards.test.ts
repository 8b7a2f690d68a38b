import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { liveGuard, shrinkGuard } from "../../../../src/core/guards/mass-change-guards.ts";
import type { InSync, Live } from "../../../../src/core/live.ts";

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

describe("the guard against an emptied control plane", () => {
  const present: Live = { state: "present", row: { key: "", id: null, manifest: {}, stamp: null } };
  const absent: Live = { state: "absent" };
  /** So many resources of a kind, the first of them found. */
  const seen = (kind: string, count: number, found: number, other: Live = absent) =>
    Array.from({ length: count }, (_, nth) => [`${kind}/r${nth}`, nth < found ? present : other] as const);
  const verdict = (...kinds: readonly ReturnType<typeof seen>[]) => {
    const live = new Map(kinds.flat());
    return liveGuard(live.keys(), { live, inSync: new Map() });
  };

  test.each([
    [9, 0, false],
    [10, 6, true],
    [10, 7, false],
    [90, 63, false],
    [90, 62, true],
  ])("F79 with %i recorded and %i of them found holds: %s", (recorded, found, holds) => {
    expect(verdict(seen("team", recorded, found)) !== null).toBe(holds);
  });

  test("F79 counts all kinds together, and each on its own", () => {
    expect(verdict(seen("team", 9, 1), seen("service", 9, 1))).toBe(
      "live shows 2 of the 18 resources that the ledger knows and that can be read (at least 70 % expected)",
    );
    expect(verdict(seen("team", 90, 90), seen("service", 12, 0))).toMatch(/^live shows 0 of the 12 service that/);
    expect(verdict(seen("team", 90, 90), seen("service", 9, 0))).toBeNull();
  });

  test("F79 does not count what cannot be read, and takes what is known to be in sync by live for found", () => {
    expect(verdict(seen("team", 100, 5, { state: "unknown", reason: "unreadable" }))).toBeNull();
    const teams = seen("team", 100, 0).map(([identity]) => identity);
    const known = (by: "live" | "ledger"): InSync => new Map(teams.map((identity) => [identity, by]));
    expect(liveGuard(teams, { live: new Map(), inSync: known("live") })).toBeNull();
    expect(liveGuard(teams, { live: new Map(seen("team", 100, 0)), inSync: known("ledger") })).not.toBeNull();
    expect(
      verdict(seen("team", 100, 5, { state: "unknown", reason: "no-read" }), seen("team-2", 10, 0)),
    ).not.toBeNull();
  });

  test("F79 keeps to other limits where they are given", () => {
    const live = new Map(seen("team", 4, 1));
    expect(liveGuard(live.keys(), { live, inSync: new Map() }, { shrinkFrom: 4, shrinkShare: 0.5 })).not.toBeNull();
    expect(liveGuard(live.keys(), { live, inSync: new Map() }, { shrinkFrom: 4, shrinkShare: 0.25 })).toBeNull();
  });
});
