import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import {
  NO_SHARES,
  type RequestLimits,
  type RequestShares,
  SHARE_MS,
  takeShare,
} from "../../../src/core/request-shares.ts";

const processes = ["a", "b", "c"] as const;
type Process = (typeof processes)[number];

/** Processes that begin as many requests as they may, whenever they ask. */
function fleet(limits: RequestLimits) {
  let shares: RequestShares = NO_SHARES;
  const inFlight = new Map<Process, number>(processes.map((name) => [name, 0]));
  const turns: number[] = [];
  return {
    turns,
    inFlight: () => [...inFlight.values()].reduce((sum, count) => sum + count, 0),
    ask: (process: Process, wanted: number, now: number) => {
      const before = inFlight.get(process) ?? 0;
      const asked = { process, inFlight: before, wanted: Math.max(wanted, before), needsTurns: true };
      const { after, share } = takeShare(shares, asked, { ...limits, now });
      shares = after;
      inFlight.set(process, Math.max(before, Math.min(share.most, asked.wanted)));
      const spacing = 1000 / (limits.requestsPerSecond ?? 1);
      for (let nth = 0; nth < share.turns; nth += 1) turns.push(now + share.turnsIn + nth * spacing);
      return share;
    },
    end: (process: Process) => inFlight.set(process, 0),
  };
}

const step = record({
  process: constantFrom(...processes),
  wanted: integer({ min: 0, max: 5 }),
  ends: integer({ min: 0, max: 1 }),
  ms: integer({ min: 0, max: 1000 }),
});

test("however processes ask, together they have no more in flight than the limit, and one turn at a time", () => {
  assert(
    property(
      integer({ min: 1, max: 6 }),
      integer({ min: 1, max: 50 }),
      array(step),
      (concurrency, perSecond, steps) => {
        const { ask, end, inFlight, turns } = fleet({ concurrency, requestsPerSecond: perSecond });
        let now = 1_800_000_000_000;
        const askedAt = new Map<Process, number>();
        for (const { process, wanted, ends, ms } of steps) {
          now += ms;
          // A share that is not asked for again ends: then there is nothing in flight any more either.
          for (const name of processes) if (now - (askedAt.get(name) ?? now) >= SHARE_MS) end(name);
          askedAt.set(process, now);
          if (ends === 1) end(process);
          ask(process, wanted, now);
          expect(inFlight()).toBeLessThanOrEqual(concurrency);
        }
        for (const [nth, turn] of turns.entries()) {
          // Epoch milliseconds have a precision of a quarter of a microsecond.
          if (nth > 0) expect(turn - (turns[nth - 1] ?? 0)).toBeGreaterThan(1000 / perSecond - 0.01);
        }
      },
    ),
  );
});

test.for([1, 2, 3, 4])(
  "processes that always want more are all allowed some in turn, with a limit of %s",
  (concurrency) => {
    const { ask, end } = fleet({ concurrency, requestsPerSecond: null });
    const allowed = new Map(processes.map((name) => [name, 0]));
    for (let round = 0; round < 60; round += 1) {
      for (const name of processes) {
        end(name);
        if (ask(name, 5, round * 200).most > 0) allowed.set(name, (allowed.get(name) ?? 0) + 1);
      }
    }
    for (const times of allowed.values()) expect(times).toBeGreaterThanOrEqual(60 / 6);
  },
);

test("a process that needs less than its share leaves the rest to the others", () => {
  const { ask } = fleet({ concurrency: 10, requestsPerSecond: null });
  ask("a", 1, 0);
  expect(ask("b", 20, 0).most).toBe(9);
});

test("what a process holds that asks no more is free after ten seconds, and not before", () => {
  const { ask } = fleet({ concurrency: 2, requestsPerSecond: null });
  ask("a", 2, 0);
  expect(ask("b", 2, SHARE_MS - 1).most).toBe(0);
  expect(ask("b", 2, SHARE_MS).most).toBe(2);
});

test("a process that comes back late with requests in flight may begin none until the others have room", () => {
  const { ask, end } = fleet({ concurrency: 2, requestsPerSecond: null });
  ask("a", 2, 0);
  ask("b", 2, SHARE_MS);
  expect(ask("a", 2, SHARE_MS + 1).most).toBe(0);
  end("a");
  expect(ask("b", 2, SHARE_MS + 2).most).toBeLessThanOrEqual(1);
});

test("a clock that is set back by an hour lets nobody wait for it", () => {
  const { ask } = fleet({ concurrency: 2, requestsPerSecond: 10 });
  ask("a", 2, 3_600_000);
  expect(ask("b", 2, 100)).toMatchObject({ most: 0 });
  expect(ask("b", 2, 100 + SHARE_MS)).toMatchObject({ most: 2, turnsIn: 0 });
});
