import { exitCodes } from "../core/errors.ts";
import { type Gate, hasChanges, type Plan } from "../core/plan/plan.ts";
import { reconcile } from "../engine/reconcile.ts";
import { planRemarks } from "../render/ci/annotations.ts";
import { planOutputs } from "../render/ci/plan-outputs.ts";
import { printable } from "../render/escape.ts";
import { allOutputs } from "../render/output-format.ts";
import { planFile, planReport } from "../render/pass-report.ts";
import { contentTop } from "../source/source-root.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import type { plan } from "./declarations/plan.ts";
import { endWithInvalidSource } from "./output/end-with-invalid-source.ts";
import { fullReportNote } from "./output/full-report-note.ts";
import { outputPath } from "./output/output-path.ts";
import { passNotices, showUnreadable } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { openOutputs, writeSealedPlan } from "./output/write-outputs.ts";
import { findTarget } from "./targets/find-targets.ts";
import { onEachTarget } from "./targets/on-each-target.ts";

/** Shows what apply would do; changes nothing. */
export const run = onEachTarget(runOnTarget);

async function runOnTarget(invocation: InvocationOf<typeof plan>): Promise<number> {
  const { flags, terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await findTarget(invocation, { reading: true });
  const place = { cwd: terminal.cwd, content: contentTop(target.source.root) };
  const out = flags.out === undefined ? null : outputPath(flags.out, place);
  const show = new Set(flags.show);
  const gate = gateOf(flags);
  const write = openOutputs(invocation, place.content);
  const seals = out !== null || allOutputs(flags.output).some(({ format }) => format === "json");
  const shows = { showServer: show.has("server"), showUnmanaged: show.has("unmanaged") };
  const mode = { is: "plan", ...shows, gate, seals } as const;
  const end = await reconcile(target, mode, { ...terminal, emit: passNotices(invocation, view) });
  if (end.what !== "planned") return endWithInvalidSource(end, invocation);
  if (out !== null) writeSealedPlan(planFile(end), out);
  showUnreadable(end.plan.diagnostics, invocation, view);
  const review = {
    target: target.choice?.name ?? null,
    subject: flags.base === undefined ? ("change" as const) : ("pull request" as const),
    whole: fullReportNote(terminal.env),
  };
  const reportView = {
    ...view,
    ...review,
    showUnchanged: show.has("unchanged"),
    showPreflight: show.has("preflight"),
    folds: flags.fold !== false,
    next: nextCommand(flags.out),
  };
  await write({
    render: (output) => planReport(end, { ...reportView, output }),
    job: () => ({
      remarks: planRemarks(end.plan),
      summary: planReport(end, { ...reportView, output: "markdown" }),
      outputs: planOutputs(end.plan, review),
    }),
  });
  return exitCodeOf(end.plan, gate);
}

function nextCommand(out: string | undefined): string {
  return out === undefined ? "holdfast apply" : `holdfast apply --plan ${printable(out)}`;
}

// An incomplete plan cannot tell whether there are changes.
function exitCodeOf(plan: Plan, gate: Gate | null): number {
  if (!plan.complete) return exitCodes.error;
  return gate !== null && hasChanges(plan, gate) ? 2 : 0;
}

// With `--base`, only the changes of the pull request count, unless `--gate all` is given.
function gateOf({ gate, detailedExitcode, base }: Invocation["flags"]): Gate | null {
  if (gate !== undefined) return gate;
  if (!detailedExitcode) return null;
  return base === undefined ? "all" : "change";
}
