import { expect, test } from "vitest";
import { createServerClock } from "../../../src/client/server-clock.ts";
import { systemClock } from "../../../src/clock/system.ts";

function clocks() {
  let now = 1_000;
  const serverClock = createServerClock({ ...systemClock, monotonic: () => now });
  return { serverClock, pass: (milliseconds: number) => (now += milliseconds) };
}

test("the control plane's time goes on from its newest reply", () => {
  const { serverClock, pass } = clocks();
  expect(serverClock.now()).toBe(null);
  serverClock.saw({ date: "Sat, 21 Nov 2026 12:00:00 GMT" });
  pass(250);
  expect(serverClock.now()).toBe(Date.UTC(2026, 10, 21, 12) + 250);
  serverClock.saw({ date: "Sat, 21 Nov 2026 11:00:00 GMT" });
  expect(serverClock.now()).toBe(Date.UTC(2026, 10, 21, 11));
});

test.each([undefined, "", "-5", "21 Nov 2026", ["Sat, 21 Nov 2026 12:00:00 GMT", "Sat, 21 Nov 2026 12:00:01 GMT"]])(
  "a reply whose date is %j tells no time",
  (date) => {
    const { serverClock } = clocks();
    serverClock.saw(date === undefined ? {} : { date });
    expect(serverClock.now()).toBe(null);
  },
);
