import { expect, test } from "vitest";
import { runTimes } from "../../../src/core/run-times.ts";
import { timestampText } from "../../../src/core/timestamp-text.ts";
import { NOON } from "./given.ts";

test.each<[string, Parameters<typeof runTimes>[0], ReturnType<typeof runTimes>]>([
  ["milliseconds", { createdAt: NOON, endTime: NOON + 1 }, { began: NOON, ended: NOON + 1 }],
  ["seconds", { createdAt: NOON / 1000, endTime: NOON / 1000 + 1 }, { began: NOON, ended: NOON + 1000 }],
  ["the last second that is one", { createdAt: 1e11 - 1 }, { began: 1e14 - 1000, ended: null }],
  ["the first that is milliseconds", { createdAt: 1e11 }, { began: 1e11, ended: null }],
  ["a run in progress", { createdAt: NOON, endTime: 0 }, { began: NOON, ended: null }],
  ["no times", {}, { began: Number.NaN, ended: null }],
  ["texts", { createdAt: "2026", endTime: "2026" }, { began: Number.NaN, ended: null }],
])("the times of a run are read from %s", (_, run, times) => {
  expect(runTimes(run)).toEqual(times);
});

test("a time is shown in UTC and to the second", () => {
  expect(timestampText(NOON + 999)).toBe("2026-11-21T12:00:00Z");
});
