import { describe, expect, test } from "vitest";
import {
  endOfDay,
  endOfGrace,
  isExpired,
  nextScheduledRotation,
} from "../../../src/server/resources/virtual-account/expiry.ts";

const at = (text: string): number => Date.parse(text);

describe("expiry", () => {
  test("comes at the end of the last day, UTC", () => {
    expect(isExpired("2026-11-21", at("2026-11-21T23:59:59.999Z"))).toBe(false);
    expect(isExpired("2026-11-21", at("2026-11-22T00:00:00.000Z"))).toBe(true);
    expect(endOfDay("2028-02-29")).toBe(at("2028-03-01T00:00:00Z"));
  });

  test("never comes without a date", () => {
    expect(isExpired(undefined, at("2999-01-01T00:00:00Z"))).toBe(false);
    expect(isExpired(null, at("2999-01-01T00:00:00Z"))).toBe(false);
  });
});

describe("rotation", () => {
  test("is due so many days after the token was issued", () => {
    expect(nextScheduledRotation(30, at("2026-11-21T08:00:00Z"))).toBe(at("2026-12-21T08:00:00Z"));
    expect(nextScheduledRotation(null, 0)).toBeNull();
  });

  test("leaves the old token its days of grace", () => {
    expect(endOfGrace(2, at("2026-11-21T08:00:00Z"))).toBe(at("2026-11-23T08:00:00Z"));
  });
});
