import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RecurringTask } from "../../../src/server/jobs/recurring-task.ts";
import { machine } from "../../support/machine.ts";

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function turning(next: (turn: number) => number | null) {
  const turns: number[] = [];
  const failures: unknown[] = [];
  const work = async () => {
    turns.push(Date.now());
    return next(turns.length);
  };
  const task = new RecurringTask(work, machine.clock, (error) => failures.push(error));
  return { task, turns, failures };
}

test("it runs at the earliest scheduled time, and then at the times that its work returns", async () => {
  const { task, turns } = turning((turn) => (turn === 1 ? 500 : null));
  task.at(300);
  task.at(100);
  task.at(200);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(turns).toEqual([100, 500]);
});

test("a time scheduled during its work is not lost", async () => {
  const { task, turns } = turning((turn) => {
    if (turn === 1) task.at(50);
    return null;
  });
  task.at(0);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(turns).toEqual([0, 50]);
});

test("it runs again one second after a failure", async () => {
  const { task, turns, failures } = turning((turn) => {
    if (turn === 1) throw new Error("no");
    return null;
  });
  task.at(0);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(turns).toEqual([0, 1000]);
  expect(failures).toHaveLength(1);
});

test("a time weeks away is waited for", async () => {
  const weeks = 40 * 86_400_000;
  const { task, turns } = turning(() => (Date.now() < weeks ? weeks : null));
  task.at(weeks);
  await vi.advanceTimersByTimeAsync(weeks + 1);
  expect(turns.at(-1)).toBe(weeks);
});

test("it does not run after it was closed", async () => {
  const { task, turns } = turning(() => 0);
  await task.close();
  task.at(0);
  await vi.advanceTimersByTimeAsync(1000);
  expect(turns).toEqual([]);
});
