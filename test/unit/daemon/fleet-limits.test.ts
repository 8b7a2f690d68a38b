import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import type { RequestShare } from "../../../src/core/request-shares.ts";
import { createSharedTurns } from "../../../src/daemon/fleet-limits.ts";

/** The turns of a process; what it is told of its share, and when, is up to the test. */
function turnsToldBy(limits: { readonly concurrency: number | null; readonly requestsPerSecond: number | null }) {
  const questions: { readonly tell: (share: Partial<RequestShare>) => void }[] = [];
  let [hadTurn, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const turns = createSharedTurns(limits, {
    clock: systemClock,
    ask: () =>
      new Promise((resolve) => {
        const askedAt = systemClock.monotonic();
        questions.push({
          tell: (share) => resolve({ most: 0, turnsIn: 0, turns: 0, askedAt, toldAt: askedAt, ...share }),
        });
        asked.resolve();
        if (isOver) questions.pop()?.tell({});
      }),
    onTrouble: (error) => {
      throw error;
    },
    onTurn: () => hadTurn.resolve(),
  });
  let isOver = false;
  onTestFinished(async () => {
    isOver = true;
    for (const { tell } of questions) tell({});
    await turns.giveBack();
  });
  const told = async (share: Partial<RequestShare>): Promise<void> => {
    await asked.promise;
    [hadTurn, asked] = [Promise.withResolvers(), Promise.withResolvers()];
    questions.pop()?.tell(share);
    await hadTurn.promise;
  };
  return { turns, told, isAsking: () => asked.promise };
}

test("while a process asks for its share, it has no more in flight than it said", async () => {
  const { turns, told, isAsking } = turnsToldBy({ concurrency: 10, requestsPerSecond: null });
  expect(turns.begin(1)).toBe(false);
  await told({ most: 10 });
  expect([turns.begin(2), turns.begin(1)]).toEqual([true, true]);
  await isAsking();
  expect(turns.begin(1)).toBe(false);
  turns.end();
  expect(turns.begin(1)).toBe(true);
  expect(turns.begin(1)).toBe(false);
  await told({ most: 5 });
  expect([turns.begin(3), turns.begin(2), turns.begin(1), turns.begin(1)]).toEqual([true, true, true, false]);
});

test("a turn that was missed is not made up for", async () => {
  const { turns, told } = turnsToldBy({ concurrency: null, requestsPerSecond: 1 });
  expect(turns.begin(1)).toBe(false);
  // As when the process was suspended: the turn of another one comes next.
  await told({ turns: 1, turnsIn: -300 });
  expect(turns.begin(1)).toBe(false);
});
