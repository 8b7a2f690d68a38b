import { expect, test } from "vitest";
import type { JobRun } from "../../../../src/contract/generated/resources.ts";
import { shownRun } from "../../../../src/core/report/shown-run.ts";

const began = Date.UTC(2026, 10, 20, 10);
const run = {
  ...{ name: "run-1", deploymentVersion: "3", status: "FINISHED", triggeredBy: "user:ann", createdAt: began },
  ...{ endTime: began + 1000, exitCode: 0, error: "" },
} as unknown as JobRun;
const shown = {
  ...{ name: "run-1", version: "3", status: "FINISHED", triggeredBy: "user:ann", exitCode: 0, error: null },
  ...{ began: "2026-11-20T10:00:00.000Z", ended: "2026-11-20T10:00:01.000Z" },
};

test.each<[string, object, object]>([
  ["that has ended", {}, {}],
  ["that has failed", { exitCode: 1, error: "no memory" }, { exitCode: 1, error: "no memory" }],
  ["that goes on", { endTime: 0, exitCode: undefined }, { ended: null, exitCode: null }],
  ["that nobody has triggered", { triggeredBy: "" }, { triggeredBy: null }],
  ["that does not say when it began", { createdAt: undefined }, { began: null }],
])("a run %s is shown with its times", (_, fields, told) => {
  expect(shownRun({ ...run, ...fields })).toEqual({ ...shown, ...told });
});
