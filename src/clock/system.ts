import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** The clock and the timers of this machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds, options) => delay(milliseconds, undefined, options),
  after: (milliseconds, call, { ref = true } = {}) => {
    const timer = setTimeout(call, milliseconds);
    if (!ref) timer.unref();
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  every: (milliseconds, call, { ref = true } = {}) => {
    const timer = setInterval(call, milliseconds);
    if (!ref) timer.unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  },
  timeout: (milliseconds) => AbortSignal.timeout(milliseconds),
  turn: () => new Promise((resolve) => void setImmediate(resolve)),
};

/** The randomness of this machine. */
export const systemRandom: Random = {
  next: () => Math.random(),
  id: () => randomUUID(),
  bytes: (size) => randomBytes(size),
};
