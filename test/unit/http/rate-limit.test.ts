import { expect, test, vi } from "vitest";
import { createRateLimit } from "../../../src/http/rate-limit.ts";

test("a caller may make as many requests at once as in a second, and then waits", () => {
  let now = 0;
  const limit = createRateLimit(10, () => now);
  for (let nth = 0; nth < 10; nth += 1) expect(limit("a")).toBe(0);
  expect(limit("a")).toBeCloseTo(0.1);
  expect(limit("b")).toBe(0);
  now = 100;
  expect(limit("a")).toBe(0);
  expect(limit("a")).toBeGreaterThan(0);
  now = 60_000;
  for (let nth = 0; nth < 10; nth += 1) expect(limit("a")).toBe(0);
  expect(limit("a")).toBeGreaterThan(0);
});

test("a refused request does not count, and a rate below one a second works", () => {
  let now = 0;
  const limit = createRateLimit(0.5, () => now);
  expect(limit("a")).toBe(0);
  for (let nth = 0; nth < 5; nth += 1) expect(limit("a")).toBe(2);
  now = 2000;
  expect(limit("a")).toBe(0);
});

test("idle callers are forgotten, however many there are", () => {
  let now = 0;
  const limit = createRateLimit(1, () => now);
  for (let nth = 0; nth < 30_000; nth += 1) {
    now += 1;
    expect(limit(`caller ${nth}`)).toBe(0);
  }
  expect(limit("caller 29999")).toBeGreaterThan(0);
});

test("a request costs the same however many callers are active", () => {
  const limit = createRateLimit(1, () => 0);
  for (let nth = 0; nth < 20_000; nth += 1) expect(limit(`caller ${nth}`)).toBe(0);
  const lookUps = vi.spyOn(Map.prototype, "get");
  limit("another caller");
  const { length } = lookUps.mock.calls;
  lookUps.mockRestore();
  expect(length).toBeLessThan(10);
  expect(limit("caller 0")).toBeGreaterThan(0);
});
