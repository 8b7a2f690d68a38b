import { exitCodes } from "../core/errors.ts";
import { reconcile } from "../engine/reconcile.ts";
import { driftRemarks } from "../render/ci/annotations.ts";
import { driftOutputs } from "../render/ci/plan-outputs.ts";
import type { OutputFormat } from "../render/output-format.ts";
import { driftReport } from "../render/pass-report.ts";
import { contentTop } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { drift } from "./declarations/drift.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { fullReportNote, passNotices, showUnreadable } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { openOutputs } from "./output/write-outputs.ts";
import { type FindTarget, onEachTarget } from "./targets/on-each-target.ts";

/** Shows drift; never writes to live. */
export const run = onEachTarget(runOnTarget);

async function runOnTarget(invocation: InvocationOf<typeof drift>, find: FindTarget): Promise<number> {
  const { flags, terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await find({ reading: true, base: "instead" });
  const emit = passNotices(invocation, view);
  const write = openOutputs(invocation, contentTop(target.source.root));
  const end = await reconcile(target, { is: "drift" }, { ...terminal, emit });
  if (end.what !== "drifted") return endWithInvalidSource(end, invocation);
  showUnreadable(end.report.diagnostics, invocation, view);
  const name = target.choice?.name ?? null;
  const render = (output: OutputFormat): string => {
    const whole = fullReportNote(terminal.env);
    return driftReport(end, flags.base ?? null, { ...view, target: name, whole, output });
  };
  await write({
    render,
    job: () => ({
      remarks: driftRemarks(end.report),
      summary: render("markdown"),
      outputs: driftOutputs(end.report, name),
    }),
  });
  if (!end.report.complete) return exitCodes.error;
  const { drifted, unrecorded, absent } = end.report.summary;
  return drifted + unrecorded + absent > 0 && flags.detailedExitcode !== false ? 2 : 0;
}
