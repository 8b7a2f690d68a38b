import { appendFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { ApprovalReport } from "../contract/generated/output.ts";
import type { ApprovalRule } from "../core/approvals/approval-rule.ts";
import {
  approvalDiagnostics,
  approvalMessage,
  type FoundApprovals,
  findApprovals,
  signerRule,
} from "../core/approvals/require-approvals.ts";
import { HoldfastError } from "../core/errors.ts";
import { FORMAT_VERSION } from "../core/format-version.ts";
import type { Plan } from "../core/plan/plan.ts";
import { readPlanDocuments } from "../core/plan/read-plan-documents.ts";
import { noPlan } from "../core/plan/signed-plan.ts";
import { jsonText, printable } from "../render/escape.ts";
import { planReview } from "../render/plan-review.ts";
import { shellWord } from "../render/shell-word.ts";
import { sentenceText } from "../render/wrap.ts";
import { findSigningKey, type SshSigningKey, signWithSsh } from "./approve/ssh-signer.ts";
import type { InvocationOf } from "./command.ts";
import type { approve } from "./declarations/approve.ts";
import { approvalsPath, readApprovalFile, readPlanJson, readSignedPlan } from "./input/read-signed-plan.ts";
import { terminalViewOf } from "./output/terminal-view.ts";
import { confirm, requireConfirmable, type Terminal, writeResult } from "./terminal.ts";

/** Shows a sealed plan, and signs it with an ssh key. */
export async function run(invocation: InvocationOf<typeof approve>): Promise<number> {
  const { args, flags, terminal } = invocation;
  const [named] = args;
  if (named === undefined)
    throw new HoldfastError("invalid", "approve needs the file of a plan", { hint: "holdfast approve plan.json" });
  requireConfirmable("approve", { isConfirmed: flags.yes }, terminal);
  const path = resolve(terminal.cwd, named);
  const { signature, approvals } = readSignedPlan(path);
  const view = terminalViewOf(invocation);
  using key = await signingKey(flags.key, approvals, terminal);
  // What is asked for is shown on stderr, as by apply.
  terminal.stderr.write(planReview(shownPlan(path), view));
  if (!flags.yes && !(await confirm(`Sign this plan with ${printable(key.path)}?`, terminal))) {
    terminal.stderr.write("nothing was signed\n");
    return 0;
  }
  const added = await signWithSsh(approvalMessage(signature.content), key, terminal);
  const rule = approvals ?? signerRule(added);
  const find = (text: string): FoundApprovals => {
    return findApprovals(signature.content, { rule, text, now: terminal.clock.now() });
  };
  const [own] = find(added).approvers;
  if (own === undefined) throw notAllowed(find(added).faults, key);
  const file = readApprovalFile(path, terminal.cwd);
  const isNew = !find(file.text).approvers.some(({ fingerprint }) => fingerprint === own.fingerprint);
  if (isNew) write(approvalsPath(path), added);
  const { approvers, faults } = find(readApprovalFile(path, terminal.cwd).text);
  const report: ApprovalReport = {
    format_version: FORMAT_VERSION,
    plan: relative(terminal.cwd, path),
    digest: signature.content,
    ...{ file: file.path, approver: own, added: isNew, approvers, atLeast: approvals?.atLeast ?? null },
    diagnostics: [...terminal.warnings.all(), ...approvalDiagnostics(faults, "warning", file.path)],
  };
  await writeResult(terminal, view.output === "json" ? jsonText(report) : approvalText(report, view.width));
  return 0;
}

function approvalText({ approver, added, approvers, atLeast, file, plan }: ApprovalReport, width: number): string {
  const of =
    atLeast === null
      ? ""
      : `: ${approvers.length} of ${atLeast} ${atLeast === 1 ? "approval" : "approvals"}, in ${file}`;
  const said = `${added ? "Approved" : "Approved already"} as ${approver.name}${of}`;
  return sentenceText(printable(said), width) + nextText(approvers.length, atLeast ?? 1, plan, width);
}

function nextText(count: number, atLeast: number, plan: string, width: number): string {
  return count < atLeast
    ? ""
    : sentenceText(
        `Enough have signed it: holdfast apply --plan ${shellWord(plan)}, with the flags of its plan`,
        width,
      );
}

function shownPlan(path: string): Plan {
  const [document] = readPlanDocuments(readPlanJson(path)) ?? [];
  if (document?.is !== "plan") throw noPlan("its steps cannot be shown");
  return document.plan;
}

async function signingKey(
  named: string | undefined,
  rule: ApprovalRule | null,
  terminal: Terminal,
): Promise<SshSigningKey> {
  if (named !== undefined) return { path: resolve(terminal.cwd, named), [Symbol.dispose]: () => undefined };
  if (rule !== null) return findSigningKey(rule, terminal);
  throw new HoldfastError("invalid", "the plan itself asks for no approval", {
    hint: "name the key with --key FILE where the configuration of the apply asks for one",
  });
}

function notAllowed(faults: readonly string[], { path }: SshSigningKey): HoldfastError {
  const why = faults[0]?.replace(/^[^:]*: /, "") ?? "ssh-keygen made no signature";
  return new HoldfastError("refused", `nothing was signed with ${path}: ${why}`, {
    hint: "name a key that may approve the plan with --key FILE",
  });
}

function write(path: string, signature: string): void {
  try {
    // Appended at once, so that two people may sign at the same time.
    appendFileSync(path, signature);
  } catch (cause) {
    const why = cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
    throw new HoldfastError("error", `the signature cannot be written to ${path}${why}`, {
      hint: "copy the plan to a folder that you may write, and sign it there",
      cause,
    });
  }
}
