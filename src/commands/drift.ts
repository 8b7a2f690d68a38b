import { exitCodes, HoldfastError } from "../core/errors.ts";
import { reconcile } from "../engine/reconcile.ts";
import { driftRemarks } from "../render/ci/annotations.ts";
import { driftOutputs } from "../render/ci/plan-outputs.ts";
import type { OutputFormat } from "../render/output-format.ts";
import { driftReport } from "../render/pass-report.ts";
import { contentTop } from "../source/source-root.ts";
import type { InvocationOf } from "./command.ts";
import type { drift } from "./declarations/drift.ts";
import type { DriftProposing } from "./drift/open-proposing.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { fullReportNote, passNotices, showUnreadable } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { openOutputs } from "./output/write-outputs.ts";
import { type FindTarget, onEachTarget } from "./targets/on-each-target.ts";

/** Shows drift, and proposes it for git if that was asked for; never writes to live. */
export const run = onEachTarget(runOnTarget);

async function runOnTarget(invocation: InvocationOf<typeof drift>, find: FindTarget): Promise<number> {
  const { flags, terminal } = invocation;
  if (flags.dryRun && !flags.propose)
    throw new HoldfastError("invalid", "drift writes nothing by itself, so --dry-run is for --propose alone", {
      hint: "add --propose, or leave out --dry-run",
    });
  const view = terminalViewOf(invocation);
  await using proposing = flags.propose ? await openProposing(invocation) : null;
  await using target = await find({ reading: true, base: "instead" });
  const emit = passNotices(invocation, view);
  const write = openOutputs(invocation, contentTop(target.source.root));
  const mode = { is: "drift", ...proposing?.modeOf(target) } as const;
  const found = await reconcile(target, mode, { ...terminal, emit });
  if (found.what !== "drifted") return endWithInvalidSource(found, invocation);
  const end = proposing === null ? found : await proposing.propose(found, target);
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

// Loaded here, because most drift is only shown.
async function openProposing(invocation: InvocationOf<typeof drift>): Promise<DriftProposing> {
  const { openDriftProposing } = await import("./drift/open-proposing.ts");
  return openDriftProposing(invocation);
}
