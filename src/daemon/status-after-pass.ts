import { errorMessage } from "../contract/error-message.ts";
import { type FailureCode, HoldfastError } from "../core/errors.ts";
import { needsAdoption } from "../core/guards/step-guards.ts";
import type { Identity } from "../core/manifest.ts";
import type { Step } from "../core/plan/plan.ts";
import { redactFailureMessage } from "../core/redact/redact-message.ts";
import type { ApplyEvent, KeptEvent, PlanEvent, ReadEvent } from "../core/report/events.ts";
import type { PassRecord, PassResult, TargetStatus } from "../core/report/target-status.ts";
import { SourceError } from "../source/source-error.ts";
import type { PassObserver } from "./pass-observer.ts";

/** The status of a target before its first pass. */
export function newStatus(target: string, source: string | null): TargetStatus {
  return {
    target,
    source,
    sync: "Unknown",
    condition: "Reconciling",
    reason: "Starting",
    message: null,
    wantedRevision: null,
    appliedRevision: null,
    counts: {},
    unknown: [],
    held: [],
    oldestUnapplied: null,
    lastPass: null,
    nextPassAt: null,
  };
}

/** The fields of the status while a pass waits for another process; empty if it waits for none. */
export function standbyStatus(holder: string | null): Partial<TargetStatus> {
  return holder === null ? {} : { condition: "Reconciling", reason: "StandingBy", message: holder };
}

type Seen = {
  follows: NonNullable<ReadEvent["follows"]> | null;
  applied: ApplyEvent | null;
  planned: PlanEvent | null;
  kept: KeptEvent | null;
  isRefused: boolean;
  /** The number of errors in manifests; the pass skips those manifests. */
  faults: number;
  standby: string | null;
  error: unknown;
};

/** What one pass reported. */
export type PassSeen = Readonly<Seen>;

/** Collects what one pass reports, until it ends. */
export type PassWatch = { readonly observer: PassObserver; readonly take: () => PassSeen };

/** Creates a collector; `take` returns what the pass reported, and starts over for the next pass. */
export function createPassWatch(): PassWatch {
  const none = (): Seen => ({
    follows: null,
    applied: null,
    planned: null,
    kept: null,
    isRefused: false,
    faults: 0,
    standby: null,
    error: null,
  });
  let seen = none();
  return {
    take: () => {
      const taken = seen;
      seen = none();
      return taken;
    },
    observer: {
      emit: (event) => {
        if (event.what === "applied") seen.applied = event;
        if (event.what === "planned") seen.planned = event;
        if (event.what === "kept") seen.kept = event;
        if (event.what === "standing-by") seen.standby = event.message;
        if (event.what === "taking-over") seen.standby = null;
        if (event.what === "superseded") seen.standby = "this process took over; the next pass reads everything again";
        if (event.what !== "read") return;
        seen.follows = event.follows ?? null;
        seen.isRefused = event.isRefused;
        seen.faults = event.diagnostics.filter(({ severity }) => severity === "error").length;
      },
      failure: (error) => {
        seen.error = error;
      },
    },
  };
}

/** When a pass ran, and which commit its source wanted. */
export type PassTimes = {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly nextAt: number;
  /** The newest commit of the source; null if it has none. */
  readonly wanted: string | null;
};

/** The status of a target after a pass. */
export function statusAfter(before: TargetStatus, seen: PassSeen, times: PassTimes): TargetStatus {
  const { applied, planned } = seen;
  const carriedOut = applied?.report.revision ?? null;
  const wantedRevision = times.wanted ?? revisionRead(before, seen);
  const appliedRevision = carriedOut ?? before.appliedRevision;
  const outcome = outcomeOf(seen);
  const counts = applied?.report.summary ?? planned?.plan.summary ?? before.counts;
  const lastPass: PassRecord = {
    startedAt: isoTime(times.startedAt),
    endedAt: isoTime(times.endedAt),
    // A refused commit is recorded itself, instead of the last good commit that stays in force.
    commit: seen.kept === null && applied !== null ? carriedOut : wantedRevision,
    ...outcome,
    counts: applied === null && planned === null ? {} : counts,
  };
  return {
    ...before,
    sync: syncOf(before, seen, wantedRevision === null || wantedRevision === appliedRevision),
    condition: conditionOf(seen, outcome.result),
    reason: outcome.reason,
    message: outcome.message,
    wantedRevision,
    appliedRevision,
    counts,
    unknown: applied === null ? before.unknown : unknownIn(applied),
    oldestUnapplied: unappliedOf(before, wantedRevision, appliedRevision, lastPass.startedAt),
    lastPass,
    nextPassAt: isoTime(times.nextAt),
  };
}

// Uncommitted content has no revision. A pass that ended early does not tell what it read.
function revisionRead(before: TargetStatus, { applied, planned }: PassSeen): string | null {
  if (applied !== null) return applied.report.revision;
  return planned === null ? before.wantedRevision : planned.plan.revision;
}

const isoTime = (at: number) => new Date(at).toISOString();

type Outcome = Pick<PassRecord, "reason" | "message"> & { readonly result: PassResult };

function outcomeOf({ applied, planned, kept, isRefused, faults, standby, error }: PassSeen): Outcome {
  if (error !== null) return { result: "failed", ...failureOf(error) };
  if (kept !== null) return { result: "kept", reason: kept.reason, message: redactFailureMessage(kept.message) };
  if (standby !== null) return { result: "standing-by", reason: "StandingBy", message: standby };
  if (isRefused) return { result: "refused", reason: "SourceRefused", message: "the source has errors" };
  if (planned !== null) return { result: "reported", reason: null, message: null };
  const bad = applied === null ? [] : badCounts(applied);
  if (faults > 0 && kept === null)
    return { result: "partial", reason: "InvalidManifests", message: `${faults} errors` };
  if (bad.length === 0) return { result: "applied", reason: null, message: null };
  const unadopted = applied?.plan.steps.filter(needsAdoption) ?? [];
  if (applied?.report.summary.failed === 0 && unadopted.length > 0)
    return { result: "partial", reason: "NotAdopted", message: adoptText(unadopted, bad) };
  const reason = applied?.report.summary.failed === 0 ? "Blocked" : "Failed";
  return { result: "partial", reason, message: bad.join(", ") };
}

const NAMED = 3;

function adoptText(unadopted: readonly Step[], bad: readonly string[]): string {
  const names = unadopted.slice(0, NAMED).map(({ identity }) => identity);
  const more = unadopted.length > NAMED ? `, and ${unadopted.length - NAMED} more` : "";
  return `${bad.join(", ")}; somebody else manages ${names.join(", ")}${more}: holdfast adopt records what is live`;
}

function failureOf(error: unknown): Pick<PassRecord, "reason" | "message"> {
  const message = redactFailureMessage(errorMessage(error));
  if (error instanceof SourceError) return { reason: error.reason, message };
  return { reason: error instanceof HoldfastError ? failureReasons[error.code] : "Failed", message };
}

const failureReasons: { readonly [code in FailureCode]: string } = {
  error: "Failed",
  invalid: "Invalid",
  unauthorized: "Unauthorized",
  refused: "Refused",
  stale: "Stale",
  partial: "Failed",
  locked: "Locked",
  timeout: "TimedOut",
  interrupted: "Interrupted",
  terminated: "Terminated",
};

function badCounts({ report: { summary } }: ApplyEvent): readonly string[] {
  const names = ["failed", "blocked", "unknown", "skipped"] as const;
  return names.flatMap((name) => (summary[name] === 0 ? [] : [`${summary[name]} ${name}`]));
}

function conditionOf({ applied }: PassSeen, result: PassResult): TargetStatus["condition"] {
  if (result === "standing-by") return "Reconciling";
  if (result !== "applied" && result !== "reported") return "Stalled";
  const isRolling = applied?.report.outcomes.some(({ rollout }) => rollout === "progressing") ?? false;
  return isRolling ? "Reconciling" : "Ready";
}

function syncOf(before: TargetStatus, seen: PassSeen, isNewest: boolean): TargetStatus["sync"] {
  const { applied, planned } = seen;
  if (applied !== null) {
    const { unknown } = applied.report.summary;
    if (badCounts(applied).length === 0) return isNewest && seen.faults === 0 ? "Synced" : "OutOfSync";
    return unknown > 0 && badCounts(applied).length === 1 ? "Unknown" : "OutOfSync";
  }
  if (planned === null) return before.sync;
  const { create, update, block } = planned.plan.summary;
  if (!planned.plan.complete) return "Unknown";
  return create + update + block === 0 ? "Synced" : "OutOfSync";
}

function unknownIn({ report }: ApplyEvent): readonly Identity[] {
  return report.outcomes.filter(({ result }) => result === "unknown").map(({ identity }) => identity);
}

function unappliedOf(
  { oldestUnapplied }: TargetStatus,
  wanted: string | null,
  applied: string | null,
  since: string,
): TargetStatus["oldestUnapplied"] {
  if (wanted === null || wanted === applied) return null;
  return oldestUnapplied ?? { commit: wanted, since };
}
