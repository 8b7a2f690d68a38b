import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { schedule, type Task } from "../../../../src/engine/apply/schedule.ts";

type Result = "good" | "bad" | "stopped" | `after ${string}`;
type Options = { readonly concurrency?: number; readonly isStopped?: () => boolean };

const isGood = (result: Result): boolean => result === "good";
const run = (tasks: readonly Task<Result>[], { concurrency = 4, isStopped = () => false }: Options = {}) =>
  schedule(tasks, { concurrency, isGood, isStopped });

/** A task that notes what happens to it. */
function task(identity: string, after: readonly string[], log: string[], result: Result = "good"): Task<Result> {
  return {
    identity,
    after,
    run: async (state) => {
      log.push(`${state.is} ${identity}`);
      await Promise.resolve();
      log.push(`end ${identity}`);
      if (state.is === "blocked") return `after ${state.by}`;
      return state.is === "stopped" ? "stopped" : result;
    },
  };
}

describe("a schedule", () => {
  test("starts each task after everything that it waits for has ended", async () => {
    const log: string[] = [];
    await run([task("c", ["b", "a"], log), task("b", ["a"], log), task("a", [], log)]);
    expect(log).toEqual(["ready a", "end a", "ready b", "end b", "ready c", "end c"]);
  });

  test("does not let a task wait for what is not in it, nor twice for the same", async () => {
    const log: string[] = [];
    const results = await run([task("a", ["elsewhere"], log), task("b", ["a", "a"], log)]);
    expect([...results]).toEqual([
      ["a", "good"],
      ["b", "good"],
    ]);
  });

  test("does not let one slow branch hold another", async () => {
    const slow = Promise.withResolvers<Result>();
    const log: string[] = [];
    const last: Task<Result> = {
      ...task("fast-2", ["fast-1"], log),
      run: async () => {
        slow.resolve("good");
        return "good";
      },
    };
    const results = await run([
      { identity: "slow", after: [], run: () => slow.promise },
      task("fast-1", [], log),
      last,
    ]);
    expect(results.size).toBe(3);
  });

  test("holds what waits for a failure, through others, and nothing else", async () => {
    const log: string[] = [];
    const results = await run([
      task("a", [], log, "bad"),
      task("b", ["a"], log),
      task("c", ["b"], log),
      task("d", [], log),
      task("e", ["d"], log),
    ]);
    expect(Object.fromEntries(results)).toEqual({ a: "bad", b: "after a", c: "after b", d: "good", e: "good" });
  });

  test("starts nothing more as ready once it is stopped", async () => {
    let stopped = false;
    const log: string[] = [];
    const first: Task<Result> = {
      ...task("a", [], log),
      run: async () => {
        stopped = true;
        return "good";
      },
    };
    const results = await run([first, task("b", ["a"], log)], { concurrency: 1, isStopped: () => stopped });
    expect(Object.fromEntries(results)).toEqual({ a: "good", b: "stopped" });
  });

  test("ends with the error of a task that breaks, after what was running has ended", async () => {
    const log: string[] = [];
    const broken: Task<Result> = { identity: "x", after: [], run: () => Promise.reject(new Error("broken")) };
    await expect(run([broken, task("a", [], log)])).rejects.toThrow("broken");
    expect(log).toContain("end a");
  });

  test("never runs more at once than it may, and runs every task of any graph once, in order", async () => {
    const graph = fc
      .integer({ min: 1, max: 25 })
      .chain((size) =>
        fc.tuple(
          fc.constant(size),
          fc.array(fc.tuple(fc.nat(size - 1), fc.nat(size - 1)), { maxLength: 40 }),
          fc.integer({ min: 1, max: 5 }),
        ),
      );
    await fc.assert(
      fc.asyncProperty(graph, async ([size, edges, concurrency]) => {
        let running = 0;
        let most = 0;
        const ended: number[] = [];
        const tasks = Array.from({ length: size }, (_, index): Task<Result> => {
          const after = edges.flatMap(([from, to]) =>
            Math.max(from, to) === index && from !== to ? [Math.min(from, to)] : [],
          );
          return {
            identity: String(index),
            after: after.map(String),
            run: async () => {
              expect(after.every((one) => ended.includes(one))).toBe(true);
              running += 1;
              most = Math.max(most, running);
              await Promise.resolve();
              running -= 1;
              ended.push(index);
              return "good";
            },
          };
        });
        const results = await run(tasks, { concurrency });
        expect(results.size).toBe(size);
        expect(new Set(ended).size).toBe(size);
        expect(most).toBeLessThanOrEqual(concurrency);
      }),
      { numRuns: 50 },
    );
  });
});
