import { exitCodes, HoldfastError } from "../core/errors.ts";
import type { Plan } from "../core/plan.ts";
import { reconcile } from "../engine/reconcile.ts";
import { UnsafePathError } from "../files/unsafe-path.ts";
import { replaceFile } from "../files/write.ts";
import { planFile, planReport } from "../render/pass-report.ts";
import { contentTop } from "../source/root.ts";
import type { InvocationOf } from "./command.ts";
import type { plan } from "./declarations/plan.ts";
import { refuseSource } from "./failure-report.ts";
import { outputFile } from "./output-file.ts";
import { outputOptionsOf } from "./output-options.ts";
import { reportPass, showErrors } from "./report-pass.ts";
import { openTarget } from "./target.ts";
import { writeResult } from "./terminal.ts";

/** Shows what apply would do; changes nothing. */
export async function run(invocation: InvocationOf<typeof plan>): Promise<number> {
  const { flags, terminal } = invocation;
  const view = outputOptionsOf(invocation);
  await using target = await openTarget(invocation, { reading: true });
  const place = { cwd: terminal.cwd, content: contentTop(target.source.root) };
  const out = flags.out === undefined ? null : outputFile(flags.out, place);
  const show = new Set(flags.show);
  const mode = { is: "plan", showServer: show.has("server"), showUnmanaged: show.has("unmanaged") } as const;
  const end = await reconcile(target, mode, { ...terminal, tell: reportPass(invocation, view) });
  if (end.what !== "planned") return refuseSource(end, invocation);
  if (out !== null) writePlan(planFile(end), out);
  showErrors(end.plan.diagnostics, invocation, view);
  await writeResult(terminal, planReport(end, { ...view, showUnchanged: show.has("unchanged") }));
  return exitCodeOf(end.plan, flags.detailedExitcode ?? false);
}

function writePlan(plan: string, path: string): void {
  try {
    replaceFile(path, plan);
  } catch (cause) {
    if (cause instanceof UnsafePathError) throw cause;
    const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw new HoldfastError("invalid", `the plan cannot be written to ${path}${why}`, {
      hint: "name a file in a folder that exists with --out",
      cause,
    });
  }
}

// An incomplete plan is no answer to the question whether there are changes.
function exitCodeOf({ complete, summary }: Plan, isDetailed: boolean): number {
  if (!complete) return exitCodes.error;
  const changes = summary.create + summary.update + summary.block;
  return isDetailed && changes > 0 ? 2 : 0;
}
