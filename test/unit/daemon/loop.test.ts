import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { createTrigger, loop } from "../../../src/daemon/loop.ts";

const HOUR = 3_600_000;

/** A loop whose passes can be waited for one by one. */
function looping(intervalMs: number) {
  const stop = new AbortController();
  const trigger = createTrigger("prod");
  let passes = 0;
  let waiting: { readonly count: number; readonly resolve: () => void } | null = null;
  const gate = { hold: Promise.resolve() };
  const done = loop(
    async () => {
      passes += 1;
      if (waiting !== null && passes >= waiting.count) waiting.resolve();
      await gate.hold;
    },
    { clock: systemClock, trigger, intervalMs, signal: stop.signal },
  );
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      if (passes >= count) resolve();
      else waiting = { count, resolve };
    });
  return { stop, trigger, gate, done, reached, passes: () => passes };
}

test("a trigger asks for one pass with the first cause and the widest scope, whatever was fired since", () => {
  const trigger = createTrigger("prod");
  expect(trigger.take()).toBeNull();
  trigger.fireForChanges("webhook");
  trigger.fireForChanges("change");
  expect(trigger.take()).toEqual({ target: "prod", scope: "changes", cause: "webhook" });
  trigger.fireForChanges("webhook");
  trigger.fire("request");
  trigger.fireForChanges("change");
  expect(trigger.take()).toEqual({ target: "prod", scope: "all", cause: "webhook" });
  expect(trigger.take()).toBeNull();
});

describe("a loop", () => {
  test("passes once at once, and again on a trigger", async () => {
    const one = looping(HOUR);
    await one.reached(1);
    one.trigger.fire("change");
    await one.reached(2);
    one.stop.abort();
    await one.done;
    expect(one.passes()).toBe(2);
  });

  test("passes again after the interval without a trigger", async () => {
    const one = looping(1);
    await one.reached(3);
    one.stop.abort();
    await one.done;
  });

  test("collapses all triggers during a pass into one further pass", async () => {
    const one = looping(HOUR);
    const { promise, resolve } = Promise.withResolvers<void>();
    await one.reached(1);
    one.gate.hold = promise;
    one.trigger.fire("change");
    await one.reached(2);
    for (let count = 0; count < 100; count += 1) one.trigger.fire("change");
    one.gate.hold = Promise.resolve();
    resolve();
    await one.reached(3);
    one.stop.abort();
    await one.done;
    expect(one.passes()).toBe(3);
  });

  test("misses no trigger after intervals without one", async () => {
    const one = looping(1);
    await one.reached(20);
    for (let count = 0; count < 20; count += 1) {
      const before = one.passes();
      one.trigger.fire("change");
      await one.reached(before + 1);
    }
    one.stop.abort();
    await one.done;
  });

  test("ends at once between passes, and after the pass that is under way", async () => {
    const resting = looping(HOUR);
    await resting.reached(1);
    resting.stop.abort();
    await resting.done;
    const busy = looping(HOUR);
    const { promise, resolve } = Promise.withResolvers<void>();
    await busy.reached(1);
    busy.gate.hold = promise;
    busy.trigger.fire("change");
    await busy.reached(2);
    busy.stop.abort();
    resolve();
    await busy.done;
    expect([resting.passes(), busy.passes()]).toEqual([1, 2]);
  });

  test("tells a pass under way that the next one is due, by a trigger or by the interval", async () => {
    for (const [intervalMs, rings] of [
      [HOUR, true],
      [1, false],
    ] as const) {
      const stop = new AbortController();
      const trigger = createTrigger("prod");
      let passes = 0;
      await loop(
        async ({ stopWaiting }) => {
          passes += 1;
          if (passes > 1) return stop.abort();
          if (rings) trigger.fire("change");
          if (!stopWaiting.aborted) await new Promise((resolve) => stopWaiting.addEventListener("abort", resolve));
        },
        { clock: systemClock, trigger, intervalMs, signal: stop.signal },
      );
      expect(passes).toBe(2);
    }
  });

  test("does not begin when it is stopped already", async () => {
    let passes = 0;
    const pass = async () => {
      passes += 1;
    };
    await loop(pass, {
      clock: systemClock,
      trigger: createTrigger("prod"),
      intervalMs: HOUR,
      signal: AbortSignal.abort(),
    });
    expect(passes).toBe(0);
  });

  test("ends with the error of a pass that breaks", async () => {
    const pass = () => Promise.reject(new Error("broken"));
    const signal = new AbortController().signal;
    await expect(
      loop(pass, { clock: systemClock, trigger: createTrigger("prod"), intervalMs: HOUR, signal }),
    ).rejects.toThrow("broken");
  });
});
