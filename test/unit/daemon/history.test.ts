import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PassRecord } from "../../../src/core/report/target-status.ts";
import { isWorthRecording, keptStatus, readHistory } from "../../../src/daemon/history.ts";
import { newStatus } from "../../../src/daemon/status-after-pass.ts";
import { temporaryFolder } from "../../support/folder.ts";

const pass = (commit: string, result: string) => {
  const [startedAt, endedAt] = ["2026-11-22T11:00:00.000Z", "2026-11-22T11:00:01.000Z"];
  return { startedAt, endedAt, commit, result, reason: null, message: null, counts: { unchanged: 3 } };
};

test("the state of an earlier release is taken over, with its results by their names of today", async () => {
  const folder = await temporaryFolder();
  const passes = [pass("c1", "applied"), pass("c2", "standing-by"), pass("c3", "partial")];
  await writeFile(join(folder, "history.jsonl"), passes.map((one) => `${JSON.stringify(one)}\n`).join(""), {
    mode: 0o600,
  });
  const { invalid: _, ...earlier } = newStatus("prod", null);
  const status = { ...earlier, appliedRevision: "c3", wantedRevision: "c3", lastPass: passes.at(-1) };
  await writeFile(join(folder, "status.json"), JSON.stringify(status), { mode: 0o600 });
  expect(readHistory(folder).map(({ result }) => result)).toEqual(["applied", "superseded", "incomplete"]);
  // That commit was never applied whole.
  expect(keptStatus(folder)).toMatchObject({ invalid: [], appliedRevision: "c1", lastPass: { result: "incomplete" } });
});

test("a pass that changes nothing is recorded when another number of resources failed, is unknown or invalid", () => {
  const record = (counts: PassRecord["counts"]) => ({ ...pass("c1", "incomplete"), counts }) as PassRecord;
  const before = record({ updated: 1, unchanged: 45, invalid: 2 });
  expect(isWorthRecording(record({ unchanged: 46, invalid: 2 }), before)).toBe(false);
  expect(isWorthRecording(record({ unchanged: 47, invalid: 1 }), before)).toBe(true);
  expect(isWorthRecording(record({ unchanged: 45, invalid: 2, failed: 1 }), before)).toBe(true);
});
