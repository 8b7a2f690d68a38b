import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  emptyGuard,
  isLooserThanDefault,
  liveGuard,
  shrinkGuard,
  updateGuard,
} from "../../../../src/core/guards/mass-change-guards.ts";
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

test("an emptied source is told with what is known of it", () => {
  expect(emptyGuard(names(1), new Set())).toBe("the source declares nothing, but the ledger knows one resource");
  expect(emptyGuard(names(2), new Set())).toBe("the source declares nothing, but the ledger knows 2 resources");
  expect([emptyGuard([], new Set()), emptyGuard(names(1), new Set(names(1)))]).toEqual([null, null]);
  expect(shrinkGuard(names(10), new Set(names(6)))).toBe(
    "the source declares 6 of the 10 resources that the ledger knows (at least 70 % expected)",
  );
});

describe("the guard against many updates at once", () => {
  const steps = (update: number, keep: number) => [
    ...Array.from({ length: update }, () => ({ action: "update" as const })),
    ...Array.from({ length: keep }, () => ({ action: "keep" as const })),
    { action: "create" as const },
  ];

  test.each<[string, number, number, number, boolean]>([
    ["three tenths", 3, 7, 0, false],
    ["more than three tenths", 4, 6, 0, true],
    ["more than three tenths of ten, of which some have no step", 4, 3, 3, true],
    ["fewer, of many without a step", 4, 3, 20, false],
    ["all of nine", 9, 0, 0, false],
  ])("%s", (_, update, keep, others, holds) => {
    expect(updateGuard(steps(update, keep), others) !== null).toBe(holds);
  });

  test("tells how many it expects", () => {
    expect(updateGuard(steps(6, 4), 0, 0.5)).toBe(
      "6 of 10 resources would be updated in one pass (at most 50 % expected): run apply by hand, or raise guards.updateShare",
    );
  });
});

test.each([
  [{}, false],
  [{ shrinkFrom: null, shrinkShare: null, updateShare: null }, false],
  [{ shrinkFrom: 10, shrinkShare: 0.7, updateShare: 0.3 }, false],
  [{ shrinkFrom: 5, shrinkShare: 0.9, updateShare: 0.1 }, false],
  [{ shrinkFrom: 11 }, true],
  [{ shrinkShare: 0.6 }, true],
  [{ updateShare: 0.4 }, true],
])("guards of %j are looser than the default ones: %s", (guards, isLooser) => {
  expect(isLooserThanDefault(guards)).toBe(isLooser);
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
    expect(liveGuard(teams, { live: new Map(), inSync: new Map() })).toBeNull();
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
