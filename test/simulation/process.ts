import { Buffer } from "node:buffer";
import type { Clock } from "../../src/clock/clock.ts";
import type { Random } from "../../src/clock/random.ts";
import { StoreError } from "../../src/store/store-error.ts";
import { type Draw, type Scheduler, START } from "./scheduler.ts";

/** A process of the simulation: after it was killed, nothing that it waits for ever comes. */
export type Process = {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly isAlive: () => boolean;
  readonly kill: () => void;
  /** Called at the calls of a seam, at each of which the process may be killed; false if it was. */
  readonly passSeam: (seam: string) => boolean;
  /** Kills the process at a later call of a seam, or of one seam: at the next one for 1. */
  readonly killAt: (nth: number, seam?: string) => void;
  /** Makes the next writes of a durable store fail. */
  readonly failWrites: (count: number) => void;
  /** Ends the time in which it starts, when it is not killed and its writes take no time. */
  readonly started: () => void;
  /** Makes a change durable, unless the process is killed before; says so, unless it is killed after. */
  readonly durably: <Result>(change: () => Result | Promise<Result>) => Promise<Result>;
};

// One for each call: a promise keeps everything that waits for it.
const never = (): Promise<never> => new Promise(() => {});

/** Creates a process. `onKilled` is called when it is killed, by itself or at a call of a seam. */
export function createProcess(
  name: string,
  {
    scheduler,
    draw,
    flushMs,
    startsAtOnce = false,
    onKilled,
  }: {
    readonly scheduler: Scheduler;
    readonly draw: Draw;
    /** How long a write of its store takes at most. */
    readonly flushMs: number;
    /** Whether it has a start in which it is not killed and its writes take no time. @default false */
    readonly startsAtOnce?: boolean;
    readonly onKilled: () => void;
  },
): Process {
  let isAlive = true;
  let isStarting = startsAtOnce;
  let kills: { nth: number; readonly seam: string | undefined } | null = null;
  let failing = 0;
  const kill = (): void => {
    if (!isAlive) return;
    isAlive = false;
    onKilled();
  };
  const passSeam = (seam: string): boolean => {
    if (isAlive) {
      scheduler.counts.set(`seam ${seam}`, (scheduler.counts.get(`seam ${seam}`) ?? 0) + 1);
      if (kills !== null && (kills.seam ?? seam) === seam) kills.nth -= 1;
      if (kills !== null && kills.nth < 1) kill();
    }
    return isAlive;
  };
  const after = (milliseconds: number, kind: string, call: () => void): Disposable =>
    scheduler.after(milliseconds, kind, () => {
      if (isAlive) call();
    });
  return {
    name,
    isAlive: () => isAlive,
    kill,
    killAt: (nth, seam) => {
      kills = { nth, seam };
    },
    failWrites: (count) => {
      failing = count;
    },
    passSeam,
    clock: clockOf(scheduler, after),
    random: {
      next: draw,
      id: () => uuidOf(bytesOf(draw, 16)),
      bytes: (size) => bytesOf(draw, size),
    },
    started: () => {
      isStarting = false;
    },
    durably: async (change) => {
      if (isStarting) {
        await Promise.resolve();
        return change();
      }
      if (!passSeam("write")) return never();
      await new Promise<void>((resolve) => void after(draw() * flushMs, "write", resolve));
      if (failing > 0) {
        failing -= 1;
        throw new StoreError("full", "the disk is full");
      }
      const result = await change();
      return passSeam("written") ? result : never();
    },
  };
}

function clockOf(
  scheduler: Scheduler,
  after: (milliseconds: number, kind: string, call: () => void) => Disposable,
): Clock {
  return {
    now: () => START + Math.floor(scheduler.now),
    monotonic: () => scheduler.now,
    sleep: (milliseconds, { signal } = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      if (signal?.aborted) return Promise.reject(signal.reason);
      const timer = after(milliseconds, "timer", () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      const abort = (): void => {
        timer[Symbol.dispose]();
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
      return promise;
    },
    after: (milliseconds, call) => after(milliseconds, "timer", call),
    every: (milliseconds, call) => {
      let timer: Disposable;
      const next = (): void => {
        timer = after(milliseconds, "timer", () => {
          next();
          call();
        });
      };
      next();
      return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
    },
    timeout: (milliseconds) => {
      const controller = new AbortController();
      after(milliseconds, "timer", () => controller.abort(new DOMException("timed out", "TimeoutError")));
      return controller.signal;
    },
    turn: () => scheduler.turn(),
  };
}

function bytesOf(draw: Draw, size: number): Buffer {
  return Buffer.from(Array.from({ length: size }, () => Math.floor(draw() * 256)));
}

function uuidOf(bytes: Buffer): string {
  bytes.writeUInt8(((bytes.at(6) ?? 0) & 0x0f) | 0x40, 6);
  bytes.writeUInt8(((bytes.at(8) ?? 0) & 0x3f) | 0x80, 8);
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
