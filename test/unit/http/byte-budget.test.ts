import { expect, test } from "vitest";
import { createByteBudget } from "../../../src/http/byte-budget.ts";

const refused = (status: number) =>
  expect.objectContaining({ status, headers: { "retry-after": expect.stringMatching(/^\d+$/) } });

test("S46 one owner gets half of all bytes, the next one half of the rest, and there is always some left", () => {
  const budget = createByteBudget(64);
  const fill = (owner: string) => {
    for (let bytes = 0; ; bytes += 1) {
      try {
        budget(owner, 1);
      } catch (error) {
        expect(error).toEqual(refused(429));
        return bytes;
      }
    }
  };
  expect(["a", "b", "c", "d"].map(fill)).toEqual([32, 16, 8, 4]);
  expect(() => budget("e", 5)).toThrow(refused(503));
  expect(() => budget("e", 4)).not.toThrow();
});

test("S46 released bytes are available again, and are released only once", () => {
  const budget = createByteBudget(10);
  const share = budget("a", 5);
  expect(() => budget("a", 1)).toThrow(refused(429));
  share.release();
  share.release();
  budget("a", 5);
  expect(() => budget("a", 1)).toThrow(refused(429));
  expect(() => budget("b", 6)).toThrow(refused(503));
});

test("S46 bytes move to the caller once it is known, and are released when it holds too many", () => {
  const budget = createByteBudget(16);
  const first = budget("address 1", 6);
  first.moveTo("ada");
  const second = budget("address 1", 6);
  expect(() => second.moveTo("ada")).toThrow(refused(429));
  second.release();
  budget("address 1", 6).moveTo("bob");
  first.release();
  budget("ada", 5);
});
