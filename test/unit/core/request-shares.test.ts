import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { expect, test } from "vitest";
import {
  NO_SHARES,
  type RequestLimits,
  type RequestShares,
  SHARE_MS,
  type ShareRequest,
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

const asking = (fields: Partial<ShareRequest> = {}): ShareRequest => {
  return { process: "a", inFlight: 0, wanted: 3, needsTurns: true, ...fields };
};
const holder = { wanted: 3, held: 3, isAllowed: true, since: 5000, until: 5000 + SHARE_MS };

test.each<[string, Partial<RequestLimits>, Partial<ShareRequest>, ReturnType<typeof takeShare>]>([
  [
    "everything where there are no limits",
    { concurrency: null, requestsPerSecond: null },
    {},
    { after: { at: 5000, nextAt: 0, holders: {} }, share: { most: Infinity, turnsIn: 0, turns: 0 } },
  ],
  [
    "the turns of a quarter of a second at once",
    {},
    {},
    { after: { at: 5000, nextAt: 5200, holders: { a: holder } }, share: { most: 3, turnsIn: 0, turns: 2 } },
  ],
  [
    "one turn where it is longer than that",
    { requestsPerSecond: 2 },
    {},
    { after: { at: 5000, nextAt: 5500, holders: { a: holder } }, share: { most: 3, turnsIn: 0, turns: 1 } },
  ],
  [
    "no turns where it asks for none",
    {},
    { needsTurns: false },
    { after: { at: 5000, nextAt: 0, holders: { a: holder } }, share: { most: 3, turnsIn: 0, turns: 0 } },
  ],
  [
    "no turns where it may have no more in flight",
    { concurrency: 2 },
    { inFlight: 2 },
    {
      after: { at: 5000, nextAt: 0, holders: { a: { ...holder, held: 2 } } },
      share: { most: 2, turnsIn: 0, turns: 0 },
    },
  ],
  [
    "nothing where it wants nothing",
    {},
    { wanted: 0 },
    { after: { at: 5000, nextAt: 0, holders: {} }, share: { most: 0, turnsIn: 0, turns: 0 } },
  ],
])("a process alone gets %s", (_, limits, asked, expected) => {
  const given = { concurrency: 4, requestsPerSecond: 10, ...limits, now: 5000 };
  expect(takeShare(NO_SHARES, asking(asked), given)).toEqual(expected);
});

test("turns follow those that are taken, and begin at once where the last one has passed", () => {
  const limits = { concurrency: null, requestsPerSecond: 10 };
  const { after } = takeShare(NO_SHARES, asking(), { ...limits, now: 5000 });
  expect(takeShare(after, asking({ process: "b" }), { ...limits, now: 5050 })).toEqual({
    ...{ after: { at: 5050, nextAt: 5400, holders: {} }, share: { most: Infinity, turnsIn: 150, turns: 2 } },
  });
  expect(takeShare(after, asking(), { ...limits, now: 6000 }).share.turnsIn).toBe(0);
});

test("all times go back with the clock of the database", () => {
  const stored = { at: 9000, nextAt: 9100, holders: { b: { ...holder, since: 8000, until: 19_000 } } };
  const { after, share } = takeShare(stored, asking({ wanted: 1 }), {
    concurrency: 9,
    requestsPerSecond: 10,
    now: 5000,
  });
  expect(after).toEqual({
    ...{ at: 5000, nextAt: 5300 },
    holders: { b: { ...holder, since: 4000, until: 15_000 }, a: { ...holder, wanted: 1, held: 1 } },
  });
  expect(share).toEqual({ most: 1, turnsIn: 100, turns: 2 });
});

test("one request in flight goes from process to process after half a second, to the one that has waited longest", () => {
  const { ask, end } = fleet({ concurrency: 1, requestsPerSecond: null });
  const most = (name: Process, now: number) => {
    end(name);
    return ask(name, 5, now).most;
  };
  expect([most("a", 0), most("c", 100), most("b", 200)]).toEqual([1, 0, 0]);
  expect([most("a", 499), most("b", 499), most("c", 499)]).toEqual([1, 0, 0]);
  // What is in flight ends first.
  expect([most("c", 500), most("a", 501), most("b", 502), most("c", 503)]).toEqual([0, 0, 0, 1]);
  expect([most("a", 1100), most("c", 1101), most("a", 1102), most("b", 1103)]).toEqual([0, 0, 0, 1]);
});

test("of processes that have waited as long, the first by name is allowed some", () => {
  const { ask, end } = fleet({ concurrency: 1, requestsPerSecond: null });
  for (const name of ["a", "c", "b"] as const) ask(name, 5, 0);
  end("a");
  expect([ask("a", 5, 500).most, ask("c", 5, 501).most, ask("b", 5, 502).most]).toEqual([0, 0, 1]);
});
