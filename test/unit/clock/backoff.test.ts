import { expect, test } from "vitest";
import { backoff } from "../../../src/clock/backoff.ts";

const tries = [1, 2, 3, 4, 5, 6, 7, 50, 5000];

test("a wait doubles after each try up to the longest, however many there are", () => {
  expect(tries.map((attempt) => backoff(attempt, { first: 200, most: 5000 }))).toEqual([
    200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000,
  ]);
  expect(tries.map((attempt) => backoff(attempt, { first: 1, most: 120, growth: 5 }))).toEqual([
    1, 5, 25, 120, 120, 120, 120, 120, 120,
  ]);
});

test("a random number spreads a wait between nothing and the whole of it", () => {
  expect([0, 0.25, 1].map((random) => backoff(5, { first: 200, most: 5000 }, random))).toEqual([0, 800, 3200]);
});
