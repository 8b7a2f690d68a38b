import { describe, expect, test } from "vitest";
import { forEachConcurrently } from "../../../src/client/for-each-concurrently.ts";

/** Work that ends when it is told to, and notes how much of it runs at a time. */
function works() {
  const running = new Set<number>();
  const begun: number[] = [];
  const ends = new Map<number, PromiseWithResolvers<void>>();
  const work = async (nth: number): Promise<number> => {
    begun.push(nth);
    running.add(nth);
    const end = Promise.withResolvers<void>();
    ends.set(nth, end);
    await end.promise.finally(() => running.delete(nth));
    return nth;
  };
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const finish = async (nth: number) => {
    ends.get(nth)?.resolve();
    await settled();
  };
  const fail = async (nth: number) => {
    ends.get(nth)?.reject(new Error(`${nth} failed`));
    await settled();
  };
  return { work, running, begun, finish, fail, settled };
}

describe("work for each in turn", () => {
  const doing =
    (work: (nth: number) => Promise<unknown>) =>
    async (nth: number): Promise<void> => {
      await work(nth);
    };

  test("is done for every one, so many at a time", async () => {
    const { work, running, begun, finish, settled } = works();
    const all = forEachConcurrently([1, 2, 3, 4, 5], 2, doing(work));
    await settled();
    expect([...running]).toEqual([1, 2]);
    for (const nth of [2, 1, 3, 4, 5]) await finish(nth);
    await all;
    expect(begun).toEqual([1, 2, 3, 4, 5]);
  });

  test("ends with the first failure: nothing more is begun", async () => {
    const { work, begun, finish, fail, settled } = works();
    const all = forEachConcurrently([1, 2, 3, 4], 2, doing(work));
    all.catch(() => undefined);
    await settled();
    await fail(1);
    await finish(2);
    await expect(all).rejects.toThrow("1 failed");
    expect(begun).toEqual([1, 2]);
  });

  test("is over at once where there is nobody", async () => {
    await forEachConcurrently([], 2, async () => {
      throw new Error("there is nobody");
    });
  });
});
