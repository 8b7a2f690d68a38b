import { expect, test } from "vitest";
import type { ReadEvent } from "../../../src/core/report/events.ts";
import type { PassRecord } from "../../../src/core/report/target-status.ts";
import { createPassWatch } from "../../../src/daemon/pass-watch.ts";
import { isWorthRecording, newStatus, statusAfter } from "../../../src/daemon/status-after-pass.ts";
import { historyText } from "../../../src/render/history.ts";
import { statusReport } from "../../../src/render/status.ts";
import { sampleApplyEvent } from "../../support/sample-apply-event.ts";
import { emptySummary } from "../../support/sample-plan.ts";

const times = { startedAt: 1_000, endedAt: 2_000, nextAt: 3_000, wanted: "abc" };

test("a pass that took over after a wait has applied nothing", () => {
  const watch = createPassWatch();
  watch.observer.emit({ what: "standing-by", message: "ada's process leads" });
  watch.observer.emit({ what: "taking-over" });
  watch.observer.emit({ what: "superseded" });
  const { lastPass, condition, appliedRevision } = statusAfter(newStatus("prod", null), watch.end(times));
  expect(lastPass).toMatchObject({ result: "superseded", reason: "StandingBy" });
  expect([condition, appliedRevision]).toEqual(["Reconciling", null]);
});

test.each([
  ["Held", ["held"]],
  ["Stalled", ["held", "guard"]],
] as const)("a target is %s when its pass was blocked by %j", (condition, codes) => {
  const watch = createPassWatch();
  const outcomes = codes.map((code) => ({ result: "blocked", error: { code, message: "why" } }) as const);
  watch.observer.emit(sampleApplyEvent(outcomes));
  const after = statusAfter(newStatus("prod", null), watch.end(times));
  expect([after.condition, after.lastPass?.result, after.appliedRevision]).toEqual([condition, "incomplete", null]);
});

test("a commit is applied where only what was changed in live and is proposed for git is held, and live is not in sync", () => {
  const watch = createPassWatch();
  const held = { identity: "team/ml", result: "blocked", error: { code: "drift-held", message: "why" } } as const;
  watch.observer.emit(sampleApplyEvent([held, { result: "updated" }]));
  const after = statusAfter(newStatus("prod", null), watch.end({ ...times, wanted: "c0ffee" }));
  expect(after).toMatchObject({
    sync: "OutOfSync",
    condition: "Held",
    appliedRevision: "c0ffee",
    oldestUnapplied: null,
  });
  expect(after.lastPass).toMatchObject({ result: "applied", reason: "Held", message: "1 held: team/ml" });
});

test("content that is uncommitted has no revision, also when the pass before it applied a commit", () => {
  const watch = createPassWatch();
  const folder = { ...times, wanted: null };
  const applied = (revision: string | null) => {
    const event = sampleApplyEvent([{ result: "updated" }]);
    watch.observer.emit({ ...event, report: { ...event.report, revision } });
    return watch.end(folder);
  };
  const clean = statusAfter(newStatus("default", null), applied("c0ffee"));
  expect(clean.lastPass?.commit).toBe("c0ffee");
  const edited = statusAfter(clean, applied(null));
  expect([edited.lastPass?.commit, edited.wantedRevision, edited.appliedRevision]).toEqual([null, null, "c0ffee"]);
  expect(edited.sync).toBe("Synced");
  expect(
    statusReport({ targets: [edited], stages: [], daemon: null, diagnostics: [] }, { format: "text", width: 80 }),
  ).toMatch(/wanted +uncommitted\n +applied +c0ffee\n/);
  const passes = [clean, edited].flatMap(({ lastPass }) => lastPass ?? []);
  expect(historyText([{ target: "default", passes }], 80)).toMatch(/ c0ffee +applied: .*\n.* uncommitted +applied: /);
});

test.each(["failed", "kept"] as const)(
  "a pass over a folder that %s has the revision that was read, not the one applied before",
  (result) => {
    const before = { ...newStatus("default", null), wantedRevision: "c0ffee", appliedRevision: "c0ffee" };
    const ended = (revision: string | null | undefined) => {
      const watch = createPassWatch();
      if (revision !== undefined) watch.observer.emit({ what: "read", revision } as ReadEvent);
      const why = { reason: "SourceRefused", message: "empty", hint: null, diagnostics: [] };
      if (result === "failed") watch.observer.failure(new Error("empty"));
      else watch.observer.emit({ what: "kept", revision: "c0ffee", ...why });
      if (result === "kept") watch.observer.emit(sampleApplyEvent([{ result: "unchanged" }]));
      return statusAfter(before, watch.end({ ...times, wanted: null }));
    };
    const read = (["next", null, undefined] as const).map((revision) => {
      const { lastPass, wantedRevision, appliedRevision } = ended(revision);
      return [lastPass?.result, lastPass?.commit, wantedRevision, appliedRevision];
    });
    expect(read).toEqual([
      [result, "next", "next", "c0ffee"],
      [result, null, null, "c0ffee"],
      [result, null, "c0ffee", "c0ffee"],
    ]);
  },
);

test("F51 a commit that is refused is accounted for by its own id, while the last applied one is carried out", () => {
  const watch = createPassWatch();
  const why = { reason: "SourceRefused", message: "the path prod does not exist", hint: null, diagnostics: [] };
  watch.observer.emit({ what: "kept", revision: "good", ...why });
  const summary = { created: 0, updated: 0, unchanged: 1, skipped: 0, blocked: 0, failed: 0, unknown: 0, invalid: 0 };
  const report = {
    format_version: "2.2",
    revision: "good",
    server: "https://platform.example",
    summary,
    outcomes: [],
    diagnostics: [],
  } as const;
  const planSummary = { ...emptySummary, keep: 1 };
  const plan = {
    format_version: "2.2",
    revision: "good",
    server: "https://platform.example",
    complete: true,
    summary: planSummary,
    steps: [],
    diagnostics: [],
    checksum: "",
  } as const;
  watch.observer.emit({
    what: "applied",
    report,
    plan,
    isPart: false,
    tokens: [],
    notUsed: [],
    places: new Map(),
  });
  const { lastPass, appliedRevision } = statusAfter(newStatus("prod", null), watch.end(times));
  expect(lastPass).toMatchObject({ commit: "abc", result: "kept", reason: "SourceRefused" });
  expect(appliedRevision).toBe("good");
});

test("a pass that changes nothing is recorded when another number of resources failed, is unknown or invalid", () => {
  const [startedAt, endedAt] = ["2026-11-22T11:00:00.000Z", "2026-11-22T11:00:01.000Z"];
  const record = (counts: PassRecord["counts"]): PassRecord => {
    return { startedAt, endedAt, commit: "c1", result: "incomplete", reason: null, message: null, counts };
  };
  const before = record({ updated: 1, unchanged: 45, invalid: 2 });
  expect(isWorthRecording(record({ unchanged: 46, invalid: 2 }), before)).toBe(false);
  expect(isWorthRecording(record({ unchanged: 47, invalid: 1 }), before)).toBe(true);
  expect(isWorthRecording(record({ unchanged: 45, invalid: 2, failed: 1 }), before)).toBe(true);
});
