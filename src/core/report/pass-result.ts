import type { PassRecord } from "../../contract/generated/output.ts";
import { isUnreadable } from "../diagnostic.ts";
import { adoptionText, isReadable, needsAdoption } from "../guards/adoption.ts";
import { FROZEN } from "../guards/write-refusal.ts";
import type { Plan, Step } from "../plan/plan.ts";
import { placeText } from "./invalid-text.ts";
import { type ApplyReport, hasBadRollout, type Outcome } from "./report.ts";

/** The results of a pass, the same in the history, the metrics, the status and the log. */
export const passResultNames = [
  "applied",
  "incomplete",
  "failed",
  "refused",
  "kept",
  "reported",
  "superseded",
] as const satisfies readonly PassResultName[];

/** The result of a pass: what people asked for is among the records of passes, and is none. */
export type PassResultName = Exclude<PassRecord["result"], "action">;

/** Why a pass did not succeed: one word, and a sentence. */
export type PassReason = { readonly reason: string; readonly message: string };

/** What a pass did, as far as its result depends on it. */
export type PassFacts = {
  /** Why it failed; null if it did not. */
  readonly failure: PassReason | null;
  /** Why the newest revision was refused and the last applied one stays in force; null if it was not. */
  readonly kept: PassReason | null;
  /** The process that it waited for, so that it did nothing; null if it waited for none. */
  readonly standby: string | null;
  /** Whether it ended because the source has errors. */
  readonly isRefused: boolean;
  /** What it reported that it would do; null if it was not only to report. */
  readonly planned: Planned | null;
  /** What it applied; null if it ended before. */
  readonly applied: Applied | null;
};

type Applied = {
  readonly report: ApplyReport;
  /** Its steps say whether a blocked resource waits for `adopt`. */
  readonly plan: Pick<Plan, "steps">;
};

type Planned = {
  readonly plan: Pick<Plan, "complete" | "diagnostics" | "summary">;
  /** The invalid manifests, which the plan leaves out. */
  readonly invalid?: readonly Outcome[];
};

/** What a pass means for its target; `held`: a hold, a freeze or the order of targets is the only reason why it did not succeed. */
export type PassVerdict = "succeeded" | "held" | "failed" | "superseded";

/** The result of a pass, and why it did not succeed, most important first. */
type ExplainedResult = { readonly result: PassResultName; readonly reasons: readonly PassReason[] };

/** The judgement of a pass. */
export type PassConclusion = ExplainedResult & {
  readonly verdict: PassVerdict;
  /** What its apply left; empty if the commit is applied whole, also when a newer one was refused. Null if it applied none. */
  readonly left: readonly PassReason[] | null;
};

/** Decides whether a pass succeeded: whatever tells of the pass derives from this. */
export function passConclusion(facts: PassFacts): PassConclusion {
  const left = facts.applied === null ? null : shortfalls(facts.applied.report, facts.applied.plan.steps);
  const { result, reasons } = resultOf(facts, left);
  return { result, verdict: verdictOf(result, reasons), reasons, left };
}

function resultOf(facts: PassFacts, left: PassConclusion["left"]): ExplainedResult {
  const { failure, kept, standby, isRefused, planned } = facts;
  if (failure !== null) return { result: "failed", reasons: [failure] };
  if (kept !== null) return { result: "kept", reasons: [kept] };
  if (standby !== null) return { result: "superseded", reasons: [{ reason: "StandingBy", message: standby }] };
  if (isRefused) return { result: "refused", reasons: [SOURCE_REFUSED] };
  if (planned !== null) return reportedOrNot(unreported(planned));
  if (left === null) return { result: "failed", reasons: [NOTHING_REPORTED] };
  const proposed = facts.applied?.report.outcomes.filter(isDriftHeld) ?? [];
  return {
    result: left.length === 0 ? "applied" : "incomplete",
    reasons: [...left, ...reasonOf("Held", proposed, heldText)],
  };
}

function reportedOrNot(reasons: readonly PassReason[]): ExplainedResult {
  return { result: reasons.length === 0 ? "reported" : "incomplete", reasons };
}

function verdictOf(result: PassResultName, reasons: readonly PassReason[]): PassVerdict {
  switch (result) {
    case "reported":
      return "succeeded";
    case "superseded":
      return "superseded";
    case "applied":
      return reasons.length === 0 ? "succeeded" : "held";
    case "incomplete":
    case "failed":
    case "refused":
    case "kept":
      return reasons.every(isHolding) ? "held" : "failed";
  }
}

/** Whether something is left because it is held, and not because it failed. */
export function isHolding({ reason }: { readonly reason: string }): boolean {
  return HOLDING.includes(reason);
}

// `Waiting`: the commit has not passed the targets before this one yet.
const HOLDING: readonly string[] = ["Held", "Frozen", "Waiting"];

const SOURCE_REFUSED: PassReason = { reason: "SourceRefused", message: "the source has errors" };
const NOTHING_REPORTED: PassReason = { reason: "Failed", message: "the pass ended without a report" };

/** The judgement of an apply by itself: it succeeded if everything declared is in sync, or was written and its rollout did not fail. */
export function applyConclusion(applied: Applied): PassConclusion {
  return passConclusion({
    failure: null,
    kept: null,
    standby: null,
    isRefused: false,
    planned: null,
    applied,
  });
}

/** Whether an apply left nothing of its commit, from its report alone. */
export function isWhole(report: Applied["report"]): boolean {
  return applyConclusion({ report, plan: { steps: [] } }).result === "applied";
}

/** The code of a resource that is as git says, but for what was changed in live and is proposed for git. */
export const DRIFT_HELD = "drift-held";

/** Whether a resource was not written because it, or what it refers to, is on hold. */
export function isHeld(outcome: Outcome): boolean {
  return isDriftHeld(outcome) || (outcome.result === "blocked" && outcome.error?.code === "held");
}

/** Whether a resource was not written because only live has changed it, which is proposed for git: no part of a commit is missing. */
export function isDriftHeld({ result, error }: Outcome): boolean {
  return result === "blocked" && error?.code === DRIFT_HELD;
}

/** The messages of the reasons, as one line; null if there is none. */
export function reasonsText(reasons: readonly PassReason[]): string | null {
  return reasons.length === 0 ? null : reasons.map(({ message }) => message).join("; ");
}

function shortfalls({ outcomes, summary }: Applied["report"], steps: readonly Step[]): readonly PassReason[] {
  const all = Object.values(summary).reduce((sum, one) => sum + one, 0);
  const allBlocked = outcomes.filter(({ result }) => result === "blocked");
  const held = allBlocked.filter((one) => isHeld(one) && !isDriftHeld(one));
  const waiting = new Set(steps.filter(needsAdoption).map(({ identity }) => identity));
  const [adopting, blocked] = split(
    allBlocked.filter((one) => !isHeld(one)),
    ({ identity }) => waiting.has(identity),
  );
  const of = (result: Outcome["result"]): readonly Outcome[] => outcomes.filter((one) => one.result === result);
  // A write of an earlier run that was not made and is no longer declared leaves nothing undone.
  const undone = of("skipped").filter(({ interrupted }) => interrupted === undefined);
  const [frozen, skipped] = split(undone, ({ error }) => error?.code === FROZEN);
  return [
    reasonOf("InvalidManifests", of("invalid"), (invalid) => invalidText(invalid, all)),
    reasonOf("Failed", of("failed"), countText("failed")),
    reasonOf("Unknown", of("unknown"), countText("unknown")),
    reasonOf("RolloutFailed", outcomes.filter(hasBadRollout), countText("failed rollouts", "failed rollout")),
    reasonOf("NotAdopted", adopting, (some) => adoptText(some, steps, all)),
    reasonOf("Blocked", blocked, countText("blocked")),
    reasonOf("Skipped", skipped, countText("skipped")),
    reasonOf("Frozen", frozen, ([first, ...others]) => {
      const count = others.length === 0 ? "one resource" : `${others.length + 1} resources`;
      return `${count} ${first?.error?.message ?? ""}`;
    }),
    reasonOf("Held", held, heldText),
  ].flat();
}

/** What keeps a report from being one of everything that is declared. */
function unreported({ plan, invalid = [] }: Planned): readonly PassReason[] {
  const { create, update, keep, ensure, block } = plan.summary;
  const all = create + update + keep + ensure + block + invalid.length;
  const leftOut = reasonOf("InvalidManifests", invalid, (some) => invalidText(some, all));
  const unread = plan.diagnostics.filter(isUnreadable).map(({ summary }) => summary);
  const isUnread = unread.length > 0 || (leftOut.length === 0 && !plan.complete);
  return [...leftOut, ...(isUnread ? [{ reason: "Unread", message: unreadText(unread) }] : [])];
}

function unreadText(summaries: readonly string[]): string {
  return summaries.length === 0 ? "live could not be read in full" : listed(summaries);
}

function split(
  outcomes: readonly Outcome[],
  isFirst: (outcome: Outcome) => boolean,
): readonly [readonly Outcome[], readonly Outcome[]] {
  return [outcomes.filter(isFirst), outcomes.filter((one) => !isFirst(one))];
}

function reasonOf(
  reason: string,
  outcomes: readonly Outcome[],
  text: (outcomes: readonly Outcome[]) => string,
): readonly PassReason[] {
  return outcomes.length === 0 ? [] : [{ reason, message: text(outcomes) }];
}

function heldText(held: readonly Outcome[]): string {
  return `${held.length} held: ${listed(held.map(({ identity }) => identity))}`;
}

function countText(what: string, one = what): (outcomes: readonly Outcome[]) => string {
  return ({ length }) => `${length} ${length === 1 ? one : what}`;
}

function invalidText(invalid: readonly Outcome[], all: number): string {
  return `${invalid.length} of ${all} ${all === 1 ? "manifest is" : invalidVerb(invalid)} invalid: ${listed(invalid.map(placeText))}`;
}

function invalidVerb({ length }: readonly Outcome[]): string {
  return length === 1 ? "manifests is" : "manifests are";
}

function adoptText(unadopted: readonly Outcome[], steps: readonly Step[], all: number): string {
  const names = listed(unadopted.map(({ identity }) => identity));
  const readable = steps.filter((step) => needsAdoption(step) && isReadable(step)).map(({ identity }) => identity);
  const next = readable.length === 0 ? "" : `; ${adoptionText(readable)}`;
  return `${unadopted.length} of ${all} blocked until adopted or allowed: ${names}${next}`;
}

const NAMED = 3;

function listed(names: readonly string[]): string {
  const more = names.length > NAMED ? `, and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}
