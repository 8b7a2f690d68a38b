import { join } from "node:path/posix";
import { exitCodes, HoldfastError } from "../core/errors.ts";
import { findingLevels, planDiagnostics } from "../core/guards/policy-guard.ts";
import { signingRefusal } from "../core/guards/signing-refusal.ts";
import { type Gate, hasChanges, type Plan } from "../core/plan/plan.ts";
import type { GuardRefusal, PlanEvent } from "../core/report/events.ts";
import { reconcile } from "../engine/reconcile.ts";
import { planRemarks } from "../render/ci/annotations.ts";
import { planOutputs } from "../render/ci/plan-outputs.ts";
import { sarifReport } from "../render/ci/sarif.ts";
import { failureText } from "../render/failure.ts";
import { allOutputs } from "../render/output-format.ts";
import { planFile, planReport } from "../render/pass-report.ts";
import { contentTop } from "../source/source-root.ts";
import type { Invocation, InvocationOf } from "./command.ts";
import type { plan } from "./declarations/plan.ts";
import { endWithInvalidSource, showFaults } from "./output/end-with-invalid-source.ts";
import { nextCommand } from "./output/next-command.ts";
import { outputPath } from "./output/output-path.ts";
import { fullReportNote, passNotices, showUnreadable } from "./output/pass-notices.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { folderInCheckout, openOutputs, writeSignedPlan } from "./output/write-outputs.ts";
import { type FindTarget, onEachTarget } from "./targets/on-each-target.ts";
import { columnsOn, say, type Terminal } from "./terminal.ts";

/** Shows what apply would do; changes nothing. */
export const run = onEachTarget(runOnTarget);

async function runOnTarget(invocation: InvocationOf<typeof plan>, find: FindTarget): Promise<number> {
  const { flags, terminal } = invocation;
  const view = terminalViewOf(invocation);
  await using target = await find({ reading: true });
  const place = { cwd: terminal.cwd, content: contentTop(target.source.root) };
  const out = flags.out === undefined ? null : outputPath(flags.out, place);
  const show = new Set(flags.show);
  const gate = gateOf(flags);
  const write = openOutputs(invocation, place.content);
  const signs = out !== null || allOutputs(flags.output).some(({ format }) => format === "json");
  const shows = {
    showServer: show.has("server"),
    showUnmanaged: show.has("unmanaged"),
    showFingerprints: show.has("fingerprints"),
  };
  // Of several targets, each may have policies of its own.
  const requiresPolicies = terminal.collect === undefined;
  const mode = { is: "plan", ...shows, gate, signs, requiresPolicies } as const;
  const end = await reconcile(target, mode, { ...terminal, emit: passNotices(invocation, view) });
  if (end.what !== "planned") return endWithInvalidSource(end, invocation);
  const refusal = signingRefusal(end);
  if (out !== null && refusal === null) signTo(out, end, { terminal, isKeyShared: target.state.readKey() !== null });
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
    next: nextCommand(end, invocation, target),
  };
  const levelOf = findingLevels(end.plan, out !== null);
  await write({
    render: (output) => {
      if (output !== "sarif") return planReport(end, { ...reportView, output });
      const folder = folderInCheckout(terminal);
      return sarifReport(planDiagnostics(end.plan, levelOf), (file) => join(folder, file));
    },
    job: () => ({
      remarks: planRemarks(end.plan, levelOf),
      summary: planReport(end, { ...reportView, output: "markdown" }),
      outputs: planOutputs(end.plan, review),
    }),
  });
  if (out !== null && refusal !== null) return endUnsigned(refusal, invocation);
  if (refusal?.isDenied && end.plan.complete) return endDenied(refusal, invocation);
  return exitCodeOf(end.plan, gate);
}

// An incomplete plan cannot be applied.
function signTo(
  out: string,
  end: PlanEvent,
  { terminal, isKeyShared }: { readonly terminal: Terminal; readonly isKeyShared: boolean },
): void {
  if (!end.plan.complete) {
    say(terminal, "nothing was signed: the plan is incomplete");
    return;
  }
  writeSignedPlan(planFile(end), out);
  if (isKeyShared || end.plan.allows === undefined) return;
  say(
    terminal,
    "with another state, apply needs the --allow-… flags of this plan again, or both the same HOLDFAST_STATE_KEY",
  );
}

// Nobody should approve a plan that an apply refuses. The result has been written, so the refusal is reported beside it.
function endUnsigned(refusal: GuardRefusal, invocation: Invocation): number {
  const { flags, needsPerson, isDenied = false } = refusal;
  const allowed = flags.length === 0 ? [] : [`run plan again with ${flags.join(" ")} where that is intended`];
  const person = needsPerson
    ? ["confirm it at a terminal with holdfast apply, or change guards in the configuration"]
    : [];
  const ways = isDenied ? [DENIED] : [...allowed, ...person];
  return endRefused(refusal, `nothing was signed: ${ways.join("; ")}`, invocation);
}

const DENIED = "change what is declared, or the policy that denies it; no flag allows it";

// What a policy denies is no matter for a reviewer, so the check of a pull request fails.
function endDenied(refusal: GuardRefusal, invocation: Invocation): number {
  return endRefused(refusal, DENIED, invocation);
}

function endRefused({ message, diagnostics }: GuardRefusal, hint: string, invocation: Invocation): number {
  const error = new HoldfastError("refused", message, { hint, diagnostics });
  showFaults(error, invocation);
  const { stderr } = invocation.terminal;
  stderr.write(failureText(error, columnsOn(stderr)));
  return exitCodes.refused;
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
