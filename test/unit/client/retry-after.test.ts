import fc from "fast-check";
import { expect, test } from "vitest";
import { retryAfter } from "../../../src/client/retry-after.ts";

const date = Date.UTC(2026, 0, 1, 12);
const at = (offset: number) => new Date(date + offset).toUTCString();

test.each([
  ["2", 2_000],
  ["0", 0],
  ["3600", 3_600_000],
  ["9999999999", 9_999_999_999_000],
  [" 3 ", 3_000],
])("F8 digits are seconds, however many: %j", (header, expected) => {
  expect(retryAfter({ "retry-after": header }, { date })).toBe(expected);
});

test.each(["-5", "1e9", "abc", "", "2.5", "+3", "0x10", "2, 3", "99999999999", "2026-01-01T12:00:05Z"])(
  "F10 anything else is not believed: %j",
  (header) => {
    expect(retryAfter({ "retry-after": header }, { date })).toBeNull();
  },
);

test("F10 two headers contradict each other, and none says nothing", () => {
  expect(retryAfter({ "retry-after": ["2", "3"] }, { date })).toBeNull();
  expect(retryAfter({}, { date })).toBeNull();
});

test("F9 a date counts from the reply's own date, however wrong the server's clock is", () => {
  for (const wrong of [-3_600_000, 0, 3_600_000]) {
    expect(retryAfter({ "retry-after": at(wrong + 7_000), date: at(wrong) }, { date })).toBe(7_000);
  }
});

test("F9 a date without a reply's date counts from our clock, a past one is now, a distant one is what it says", () => {
  expect(retryAfter({ "retry-after": at(7_000) }, { date })).toBe(7_000);
  expect(retryAfter({ "retry-after": at(-7_000), date: at(0) }, { date })).toBe(0);
  expect(retryAfter({ "retry-after": at(86_400_000), date: at(0) }, { date })).toBe(86_400_000);
});

test("no header makes the wait negative or not a number", () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (asked, replied) => {
      const wait = retryAfter({ "retry-after": asked, date: replied }, { date });
      expect(wait === null || (Number.isSafeInteger(wait) && wait >= 0)).toBe(true);
    }),
  );
});
