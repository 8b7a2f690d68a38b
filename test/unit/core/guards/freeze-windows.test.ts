import { describe, expect, test } from "vitest";
import { type FreezeWindow, freezeSchedule } from "../../../../src/core/guards/freeze-windows.ts";
import { freezeText } from "../../../../src/core/guards/write-refusal.ts";

const HOUR = 3_600_000;
const at = (time: string): number => Date.parse(time);
const text = (time: number | null | undefined): string | null => (time == null ? null : new Date(time).toISOString());

function window(effect: FreezeWindow["effect"], cron: string, hours: number, reason: string | null = null) {
  return { effect, cron, durationMs: hours * HOUR, timeZone: "UTC", reason } as const;
}

const weekend = window("deny", "0 18 * * 5", 60, "weekend");
const night = window("deny", "0 22 * * *", 8);
const office = window("allow", "0 9 * * 1,2,3,4,5", 8, "office hours");

// 2026-03-06 is a Friday.
describe("a target is frozen", () => {
  test.each<[string, readonly FreezeWindow[], string, string | null]>([
    ["not before a deny window opens", [weekend], "2026-03-06T17:59:59.999Z", null],
    ["from when it opens", [weekend], "2026-03-06T18:00:00Z", "2026-03-09T06:00:00.000Z"],
    ["until it ends", [weekend], "2026-03-09T05:59:59.999Z", "2026-03-09T06:00:00.000Z"],
    ["not at its end", [weekend], "2026-03-09T06:00:00Z", null],
    [
      "until the last of several that overlap ends",
      [weekend, night],
      "2026-03-08T23:00:00Z",
      "2026-03-09T06:00:00.000Z",
    ],
    ["through windows that follow each other", [weekend, night], "2026-03-06T19:00:00Z", "2026-03-09T06:00:00.000Z"],
    ["until an allow window opens", [office], "2026-03-06T17:00:00Z", "2026-03-09T09:00:00.000Z"],
    ["not while an allow window is open", [office], "2026-03-06T09:00:00Z", null],
    [
      "while deny and allow are both open",
      [office, window("deny", "0 12 * * *", 1)],
      "2026-03-06T12:30:00Z",
      "2026-03-06T13:00:00.000Z",
    ],
    [
      "until an allow window that no deny window covers",
      [office, window("deny", "0 9 * * 1", 2)],
      "2026-03-08T12:00:00Z",
      "2026-03-09T11:00:00.000Z",
    ],
    ["without an end where windows leave no gap", [window("deny", "0 * * * *", 1)], "2026-03-08T12:00:00Z", "no end"],
    [
      "without an end where no allow window opens",
      [window("allow", "0 0 30 2 *", 1)],
      "2026-03-08T12:00:00Z",
      "no end",
    ],
    [
      "by a window that is longer than the time between its openings",
      [window("deny", "0 0 1 * *", 24 * 40)],
      "2026-03-08T12:00:00Z",
      "no end",
    ],
    ["never without windows", [], "2026-03-08T12:00:00Z", null],
    [
      "not while one of several allow windows is open",
      [office, window("allow", "0 20 * * *", 1)],
      "2026-03-08T20:30:00Z",
      null,
    ],
  ])("%s", (_, windows, now, until) => {
    const freeze = freezeSchedule(windows).at(at(now));
    expect(freeze && (text(freeze.until) ?? "no end")).toBe(until);
  });

  test.each<[string, string, string]>([
    // The clocks go forward at 2026-03-29T01:00Z and back at 2026-10-25T01:00Z.
    ["0 18 * * *", "2026-03-28T17:00:00Z", "2026-03-29T01:00:00.000Z"],
    ["0 18 * * *", "2026-03-29T16:00:00Z", "2026-03-30T00:00:00.000Z"],
    ["30 2 * * *", "2026-03-29T01:00:00Z", "2026-03-29T09:00:00.000Z"],
    ["0 18 * * *", "2026-10-24T16:00:00Z", "2026-10-25T00:00:00.000Z"],
    ["0 18 * * *", "2026-10-25T17:00:00Z", "2026-10-26T01:00:00.000Z"],
    ["30 2 * * *", "2026-10-25T00:30:00Z", "2026-10-25T08:30:00.000Z"],
  ])(
    "at the local time of %s, for eight elapsed hours, on a day on which the clocks change: %s",
    (cron, opens, ends) => {
      const schedule = freezeSchedule([{ ...window("deny", cron, 8), timeZone: "Europe/Berlin" }]);
      expect(schedule.at(at(opens) - 1)).toBeNull();
      expect(text(schedule.at(at(opens))?.until)).toBe(ends);
      expect(schedule.at(at(ends))).toBeNull();
    },
  );

  test.each<[string, string, string]>([
    ["Asia/Kolkata", "2026-03-06T12:30:00Z", "2026-03-06T20:30:00.000Z"],
    ["Asia/Kathmandu", "2026-03-06T12:15:00Z", "2026-03-06T20:15:00.000Z"],
    // The clocks of this zone change by half an hour, at 2026-10-03T15:30Z.
    ["Australia/Lord_Howe", "2026-10-03T07:30:00Z", "2026-10-03T15:30:00.000Z"],
    ["Australia/Lord_Howe", "2026-10-04T07:00:00Z", "2026-10-04T15:00:00.000Z"],
  ])("from 18:00 of a time zone that is no whole hour away, %s", (timeZone, opens, ends) => {
    const schedule = freezeSchedule([{ ...window("deny", "0 18 * * *", 8), timeZone }]);
    expect(schedule.at(at(opens) - 1)).toBeNull();
    expect(text(schedule.at(at(opens))?.until)).toBe(ends);
    expect(schedule.at(at(ends))).toBeNull();
  });

  test("for the same time whenever it is asked, also after a clock was set back", () => {
    const schedule = freezeSchedule([weekend]);
    const times = ["2026-03-07T00:00:00Z", "2026-03-10T00:00:00Z", "2026-03-06T12:00:00Z", "2026-03-07T00:00:00Z"];
    expect(times.map((time) => schedule.at(at(time)) !== null)).toEqual([true, false, false, true]);
  });

  test("from when the first of several windows opens, though it was asked before", () => {
    const schedule = freezeSchedule([weekend, night]);
    const times = ["2026-03-06T12:00:00Z", "2026-03-06T17:59:59Z", "2026-03-06T19:00:00Z", "2026-03-06T23:00:00Z"];
    expect(times.map((time) => schedule.at(at(time)) !== null)).toEqual([false, false, true, true]);
  });
});

describe("the next freeze", () => {
  test.each<[string, readonly FreezeWindow[], string, string | null, string | null]>([
    ["is the next one", [weekend], "2026-03-04T00:00:00Z", "2026-03-06T18:00:00.000Z", "2026-03-09T06:00:00.000Z"],
    [
      "follows the present one",
      [weekend],
      "2026-03-07T00:00:00Z",
      "2026-03-13T18:00:00.000Z",
      "2026-03-16T06:00:00.000Z",
    ],
    [
      "begins where an allow window ends",
      [office],
      "2026-03-06T12:00:00Z",
      "2026-03-06T17:00:00.000Z",
      "2026-03-09T09:00:00.000Z",
    ],
    ["is none without windows", [], "2026-03-06T12:00:00Z", null, null],
    ["is none where the present one has no end", [window("deny", "0 * * * *", 1)], "2026-03-06T12:00:00Z", null, null],
    ["is none where allow windows leave no gap", [window("allow", "0 * * * *", 1)], "2026-03-06T12:00:00Z", null, null],
  ])("%s", (_, windows, now, from, until) => {
    const next = freezeSchedule(windows).next(at(now));
    expect([text(next?.from), text(next?.until)]).toEqual([from, until]);
  });
});

test("a freeze is told with its end and its reason", () => {
  const told = (windows: readonly FreezeWindow[]): string | null => {
    const freeze = freezeSchedule(windows).at(at("2026-03-07T12:00:00Z"));
    return freeze && freezeText(freeze);
  };
  expect(told([weekend])).toBe("frozen until 2026-03-09T06:00:00Z: weekend");
  expect(told([{ ...weekend, reason: null }])).toBe("frozen until 2026-03-09T06:00:00Z");
  expect(told([office])).toBe("frozen until 2026-03-09T09:00:00Z: outside the allowed times (office hours)");
  expect(told([window("deny", "0 * * * *", 1)])).toBe("frozen without a known end");
  const closed = window("deny", "0 1 * * 1", 1, "closed");
  expect(told([weekend, closed, window("deny", "0 0 * * 6", 24, "release")])).toBe(
    "frozen until 2026-03-09T06:00:00Z: weekend, release",
  );
  expect(told([{ ...office, reason: null }, closed])).toBe(
    "frozen until 2026-03-09T09:00:00Z: outside the allowed times",
  );
});
