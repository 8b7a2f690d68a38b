import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/clock/system.ts";
import { createPassQueue, type DuePass, type PassJob, waitAfterLoss } from "../../../src/daemon/pass-queue.ts";

const HOUR = 3_600_000;

const CHANGE: PassJob = { target: "prod", scope: "all", cause: "change" };

/** A target whose passes can be waited for one by one. */
function looping(intervalMs: number) {
  const stop = new AbortController();
  const queue = createPassQueue({ clock: systemClock });
  let passes = 0;
  let waiting: { readonly count: number; readonly resolve: () => void } | null = null;
  const gate = { hold: Promise.resolve() };
  const done = queue.work(
    "prod",
    async () => {
      passes += 1;
      if (waiting !== null && passes >= waiting.count) waiting.resolve();
      await gate.hold;
      return null;
    },
    { intervalMs, signal: stop.signal },
  );
  const reached = (count: number) =>
    new Promise<void>((resolve) => {
      if (passes >= count) resolve();
      else waiting = { count, resolve };
    });
  return { stop, change: () => queue.enqueue(CHANGE), gate, done, reached, passes: () => passes };
}

test("a pass that loses its lease is tried after a second, then ever later, and at least once in each interval or minute", () => {
  const waits = (intervalMs: number) => [1, 2, 3, 7, 40].map((times) => waitAfterLoss(times, intervalMs) / 1000);
  expect(waits(HOUR)).toEqual([1, 2, 4, 60, 60]);
  expect(waits(3000)).toEqual([1, 2, 3, 3, 3]);
  expect(waits(100)).toEqual([1, 1, 1, 1, 1]);
});

test("all that is asked for before a pass makes one pass with the first cause and the widest scope", async () => {
  const queue = createPassQueue({ clock: systemClock });
  const ask = (scope: PassJob["scope"], cause: PassJob["cause"]) => queue.enqueue({ target: "prod", scope, cause });
  const asked = [
    () => [ask("changes", "webhook"), ask("changes", "change")],
    () => [ask("changes", "webhook"), ask("all", "request"), ask("changes", "change")],
  ];
  const stop = new AbortController();
  const begun: DuePass["job"][] = [];
  await queue.work(
    "prod",
    async ({ job }) => {
      begun.push(job);
      const next = asked.shift();
      if (next === undefined) stop.abort();
      next?.();
      return null;
    },
    { intervalMs: HOUR, signal: stop.signal },
  );
  expect(begun).toEqual([
    null,
    { target: "prod", scope: "changes", cause: "webhook" },
    { target: "prod", scope: "all", cause: "webhook" },
  ]);
});

test("a pass that is cut short is made again after the wait that it tells, until one is asked for", async () => {
  const queue = createPassQueue({ clock: systemClock });
  const stop = new AbortController();
  const begun: unknown[] = [];
  const pass = async ({ job, losses }: DuePass) => {
    begun.push([job?.cause, losses]);
    if (begun.length === 5) stop.abort();
    if (losses < 2) return { afterMs: 1, losses: losses + 1 };
    queue.enqueue(CHANGE);
    return { afterMs: HOUR, losses: losses + 1 };
  };
  await queue.work("prod", pass, { intervalMs: HOUR, signal: stop.signal });
  expect(begun).toEqual([
    [undefined, 0],
    ["retry", 1],
    ["retry", 2],
    ["change", 0],
    ["retry", 1],
  ]);
});

test("a command runs between two passes of its target, and beside those of others", async () => {
  const queue = createPassQueue({ clock: systemClock });
  const stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const order: string[] = [];
  const pass = async () => {
    await promise;
    order.push("pass");
    stop.abort();
    return null;
  };
  const working = queue.work("prod", pass, { intervalMs: HOUR, signal: stop.signal });
  const command = queue.between("prod", async () => order.push("command"));
  await queue.between("staging", async () => order.push("other"));
  resolve();
  await Promise.all([working, command]);
  expect(order).toEqual(["other", "pass", "command"]);
});

test("no more passes than the queue allows run at once, over all targets", async () => {
  const queue = createPassQueue({ clock: systemClock, atOnce: 2 });
  const stop = new AbortController();
  let running = 0;
  let most = 0;
  const pass = async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise(setImmediate);
    running -= 1;
    return null;
  };
  const targets = ["a", "b", "c", "d"];
  const working = targets.map((target) => queue.work(target, pass, { intervalMs: HOUR, signal: stop.signal }));
  await Promise.all(targets.map((target) => queue.between(target, async () => undefined)));
  stop.abort();
  await Promise.all(working);
  expect(most).toBe(2);
});

describe("the passes of a target", () => {
  test("begin with one at once, and another when one is asked for", async () => {
    const one = looping(HOUR);
    await one.reached(1);
    one.change();
    await one.reached(2);
    one.stop.abort();
    await one.done;
    expect(one.passes()).toBe(2);
  });

  test("begin after the interval without being asked for", async () => {
    const one = looping(1);
    await one.reached(3);
    one.stop.abort();
    await one.done;
  });

  test("are one further pass, however many are asked for during one", async () => {
    const one = looping(HOUR);
    const { promise, resolve } = Promise.withResolvers<void>();
    await one.reached(1);
    one.gate.hold = promise;
    one.change();
    await one.reached(2);
    for (let count = 0; count < 100; count += 1) one.change();
    one.gate.hold = Promise.resolve();
    resolve();
    await one.reached(3);
    one.stop.abort();
    await one.done;
    expect(one.passes()).toBe(3);
  });

  test("begin when one is asked for after intervals without it", async () => {
    const one = looping(1);
    await one.reached(20);
    for (let count = 0; count < 20; count += 1) {
      const before = one.passes();
      one.change();
      await one.reached(before + 1);
    }
    one.stop.abort();
    await one.done;
  });

  test("end at once between two, and after the pass that is under way", async () => {
    const resting = looping(HOUR);
    await resting.reached(1);
    resting.stop.abort();
    await resting.done;
    const busy = looping(HOUR);
    const { promise, resolve } = Promise.withResolvers<void>();
    await busy.reached(1);
    busy.gate.hold = promise;
    busy.change();
    await busy.reached(2);
    busy.stop.abort();
    resolve();
    await busy.done;
    expect([resting.passes(), busy.passes()]).toEqual([1, 2]);
  });

  test("are told when the next one is due, because it is asked for or by the interval", async () => {
    for (const [intervalMs, rings] of [
      [HOUR, true],
      [1, false],
    ] as const) {
      const stop = new AbortController();
      const queue = createPassQueue({ clock: systemClock });
      let passes = 0;
      await queue.work(
        "prod",
        async ({ stopWaiting }) => {
          passes += 1;
          if (passes > 1) {
            stop.abort();
            return null;
          }
          if (rings) queue.enqueue(CHANGE);
          if (!stopWaiting.aborted) await new Promise((resolve) => stopWaiting.addEventListener("abort", resolve));
          return null;
        },
        { intervalMs, signal: stop.signal },
      );
      expect(passes).toBe(2);
    }
  });

  test("do not begin when they are stopped already", async () => {
    let passes = 0;
    const pass = async () => {
      passes += 1;
      return null;
    };
    const queue = createPassQueue({ clock: systemClock });
    await queue.work("prod", pass, { intervalMs: HOUR, signal: AbortSignal.abort() });
    expect(passes).toBe(0);
  });

  test("end with the error of a pass that breaks", async () => {
    const pass = () => Promise.reject(new Error("broken"));
    const signal = new AbortController().signal;
    const queue = createPassQueue({ clock: systemClock });
    await expect(queue.work("prod", pass, { intervalMs: HOUR, signal })).rejects.toThrow("broken");
  });
});
