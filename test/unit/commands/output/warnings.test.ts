import { expect, test } from "vitest";
import { logStream, withTarget } from "../../../../src/commands/output/log-stream.ts";
import { createWarnings } from "../../../../src/commands/output/warnings.ts";
import { runWarning } from "../../../../src/core/run-warning.ts";
import { keptLog } from "../../../support/kept-log.ts";

test("in a log a warning has its code as event, its hint, and the target that it is about", () => {
  const { log, entries } = keptLog();
  const stderr = logStream(log);
  const warnings = createWarnings(stderr);
  warnings.add(runWarning("no-socket", "the daemon has no socket for commands: full"));
  warnings.printedOn(withTarget(stderr, "web") ?? stderr).add(runWarning("not-published", "not published", "look"));
  expect(entries()).toMatchObject([
    { level: "warn", event: "no-socket", hint: null, msg: "the daemon has no socket for commands: full" },
    { level: "warn", event: "not-published", target: "web", hint: "look", msg: "not published" },
  ]);
});
