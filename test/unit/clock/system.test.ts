import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock, systemRandom } from "../../../src/clock/system.ts";

beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
afterEach(() => void vi.useRealTimers());

describe("the system's clock", () => {
  test("goes on when the time is set back, and tells the time that was set", () => {
    const [time, ticks] = [systemClock.now(), systemClock.monotonic()];
    vi.advanceTimersByTime(50);
    vi.setSystemTime(200);
    expect(systemClock.now()).toBeLessThan(time);
    expect(systemClock.monotonic()).toBe(ticks + 50);
  });

  test("calls once after a time, or again and again, until it is disposed", () => {
    const calls: string[] = [];
    systemClock.after(10, () => calls.push("once"));
    const repeated = systemClock.every(10, () => calls.push("again"));
    systemClock.after(10, () => calls.push("never"))[Symbol.dispose]();
    vi.advanceTimersByTime(20);
    expect(calls.toSorted()).toEqual(["again", "again", "once"]);
    repeated[Symbol.dispose]();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("keeps the process alive unless it is told not to", () => {
    vi.useRealTimers();
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    using _once = systemClock.after(1e6, () => undefined, { ref: false });
    using _again = systemClock.every(1e6, () => undefined, { ref: false });
    expect(timers()).toBe(before);
    using _kept = systemClock.after(1e6, () => undefined);
    using _repeated = systemClock.every(1e6, () => undefined);
    expect(timers()).toBe(before + 2);
  });

  test("ends a sleep when the signal is aborted", async () => {
    vi.useRealTimers();
    const stop = new AbortController();
    const sleeping = systemClock.sleep(1e6, { signal: stop.signal, ref: false });
    stop.abort();
    await expect(sleeping).rejects.toMatchObject({ name: "AbortError" });
  });
});

test("the system's randomness gives numbers below 1, UUIDs and as many bytes as asked for", () => {
  expect(systemRandom.next()).toBeLessThan(1);
  expect(systemRandom.id()).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(systemRandom.bytes(5)).toHaveLength(5);
});
