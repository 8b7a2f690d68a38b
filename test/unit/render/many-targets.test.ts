import { expect, test } from "vitest";
import type { TargetStatus } from "../../../src/core/report/target-status.ts";
import { neverRunStatus } from "../../../src/daemon/status-after-pass.ts";
import { manyTargetsText } from "../../../src/render/many-targets.ts";
import { statusReport } from "../../../src/render/status.ts";

const names = Array.from({ length: 200 }, (_, at) => `t${String(at).padStart(3, "0")}`);

test("of two hundred targets, those that failed come first, then those with more than a line, and each other one is a line", () => {
  const results = names.map((target) => {
    if (target === "t150") return { target, hasFailed: true, text: "failed: there is no such server" };
    if (target === "t100") return { target, hasFailed: false, text: "+ team/new\nPlan: 1 to create\n" };
    return { target, hasFailed: false, text: "Plan: nothing to do, 5 unchanged\n" };
  });
  const lines = manyTargetsText(results, 80).split("\n");
  expect(lines.slice(0, 6)).toEqual([
    "t150  failed: there is no such server",
    "Target t100",
    "+ team/new",
    "Plan: 1 to create",
    "",
    "t000  Plan: nothing to do, 5 unchanged",
  ]);
  expect(lines.slice(-3)).toEqual(["t199  Plan: nothing to do, 5 unchanged", "200 targets, 1 failed", ""]);
  expect(lines).toHaveLength(1 + 4 + 198 + 2);
});

test("of two hundred statuses, what is stalled comes first and as a whole, and each target in sync is a line", () => {
  const targets = names.map((target): TargetStatus => {
    const synced: TargetStatus = {
      ...{ ...neverRunStatus(target, "platform"), sync: "Synced", condition: "Ready", reason: null, message: null },
      appliedRevision: "2e39a378a4fbae9daa5d41f11099c4a29fcb0bc3",
    };
    if (target === "t007") return { ...synced, condition: "Retired" };
    if (target === "t009") return { ...synced, held: ["team/a until 2027: exam"] };
    return target === "t150" ? { ...synced, sync: "Unknown", condition: "Stalled", message: "no server" } : synced;
  });
  const report = { targets, stages: [], daemon: { pid: 1 }, diagnostics: [] };
  const text = statusReport(report, { format: "text", width: 80 });
  const heads = text.split("\n").filter((line) => /^\S/.test(line));
  expect(heads.slice(0, 4)).toEqual([
    "t150  Unknown, Stalled",
    "t009  Synced, Ready",
    "t007  Synced, Retired",
    "t000  Synced, Ready at 2e39a378a4fb",
  ]);
  expect(heads.at(-1)).toBe("200 targets: 198 Ready, 1 Retired, 1 Stalled; 199 Synced");
  expect(heads).toHaveLength(201);
});
