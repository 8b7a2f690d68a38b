import type { Freeze, FreezeSchedule } from "../core/guards/freeze-windows.ts";
import type { WriteRefusal } from "../core/guards/write-refusal.ts";
import type { Identity } from "../core/manifest.ts";
import { redactFailureMessage } from "../core/redact/redact-message.ts";
import type { ApplyEvent } from "../core/report/events.ts";
import { isDriftHeld, type PassConclusion, reasonsText } from "../core/report/pass-result.ts";
import type { Outcome } from "../core/report/report.ts";
import type { FreezeStatus, InvalidStatus, PassRecord, TargetStatus } from "../core/report/target-status.ts";
import { timestampText } from "../core/timestamp-text.ts";
import type { EndedPass, PassSeen } from "./ended-pass.ts";

/** The status of a target before its first pass. */
export function newStatus(target: string, source: string | null): TargetStatus {
  return {
    target,
    source,
    ...STARTING,
    invalid: [],
    wantedRevision: null,
    appliedRevision: null,
    counts: {},
    unknown: [],
    held: [],
    frozen: null,
    nextFreeze: null,
    oldestUnapplied: null,
    lastPass: null,
    nextPassAt: null,
  };
}

const STARTING = { sync: "Unknown", condition: "Reconciling", reason: "Starting", message: null } as const;

/** The status of a target until the first pass of a daemon has ended, given the status that was stored last. */
export function startingStatus(stored: TargetStatus): TargetStatus {
  return { ...stored, ...STARTING, nextPassAt: null };
}

/** The status of a target of which nothing has run yet. */
export function neverRunStatus(target: string, source: string | null): TargetStatus {
  return { ...newStatus(target, source), reason: "NeverRun" };
}

/** The status of a target while the writes of an apply are under way. */
export function applyingStatus(before: TargetStatus, startedAt: number): TargetStatus {
  const message = `an apply began at ${isoTime(startedAt)}`;
  return { ...before, sync: "OutOfSync", condition: "Reconciling", reason: APPLYING, message };
}

const APPLYING = "Applying";

/** The status that was stored last, when no process writes any more: an apply that has not ended was interrupted. */
export function statusAtRest(status: TargetStatus): TargetStatus {
  if (status.reason !== APPLYING) return status;
  const message = `${status.message} and was interrupted; run it again: it first settles what is open`;
  return { ...status, condition: "Stalled", reason: "Interrupted", message };
}

/** The fields of the status while a pass waits for another process; empty if it waits for none. */
export function standbyStatus(holder: string | null): Partial<TargetStatus> {
  return holder === null ? {} : { condition: "Reconciling", reason: "StandingBy", message: holder };
}

/** The fields of the status while the database of the state does not answer, which it did at a time before. */
export function unreadableStatus(since: number): Partial<TargetStatus> {
  const message = `its database has not answered since ${timestampText(since)}`;
  return { sync: "Unknown", condition: "Reconciling", reason: "StateUnreadable", message, nextPassAt: null };
}

/** The fields of the status about the freezes of a target at a time. */
export function freezeStatus(
  freezes: FreezeSchedule | undefined,
  now: number,
): Pick<TargetStatus, "frozen" | "nextFreeze"> {
  const timeOf = ({ until, reason }: Freeze): FreezeStatus => ({
    until: until === null ? null : timestampText(until),
    reason,
  });
  const frozen = freezes?.at(now) ?? null;
  const next = freezes?.next(now) ?? null;
  return {
    frozen: frozen && timeOf(frozen),
    nextFreeze: next && { from: timestampText(next.from), ...timeOf(next) },
  };
}

/** The status of a target after a pass. */
export function statusAfter(before: TargetStatus, { seen, conclusion, times }: EndedPass): TargetStatus {
  const { applied, planned } = seen;
  const { result, reasons, left } = conclusion;
  const carriedOut = applied?.report.revision ?? null;
  const read = revisionRead(seen);
  const wanted = times.wanted ?? read?.revision ?? null;
  // Where the source could not be read, the last known commit stays wanted.
  const wantedRevision = times.wanted === null && read === null ? before.wantedRevision : wanted;
  const appliedRevision = (left?.length === 0 ? carriedOut : null) ?? before.appliedRevision;
  const outcome = { result, reason: reasons[0]?.reason ?? null, message: reasonsText(reasons) };
  const { registryOnly } = applied ?? planned ?? {};
  const counts = applied?.report.summary ?? planned?.plan.summary ?? before.counts;
  const lastPass: PassRecord = {
    startedAt: isoTime(times.startedAt),
    endedAt: isoTime(times.endedAt),
    // A refused commit is recorded itself, instead of the last applied commit that stays in force.
    commit: seen.kept === null && applied !== null ? carriedOut : wanted,
    ...outcome,
    counts: applied === null && planned === null ? {} : counts,
    ...(seen.pass !== null && { pass: seen.pass }),
  };
  return {
    ...before,
    sync: syncOf(before, { applied, planned, left }, wantedRevision === null || wantedRevision === appliedRevision),
    condition: conditionOf(seen, conclusion),
    reason: outcome.reason,
    message: outcome.message,
    invalid: invalidIn(seen) ?? before.invalid,
    wantedRevision,
    appliedRevision,
    counts,
    unknown: applied === null ? before.unknown : unknownIn(applied),
    ...(registryOnly === undefined ? {} : { registryOnly }),
    oldestUnapplied: unappliedOf(before, wantedRevision, appliedRevision, lastPass.startedAt),
    lastPass,
    nextPassAt: times.nextAt === null ? null : isoTime(times.nextAt),
  };
}

/** The record of an apply, which also says that a person wrote although writes were refused. */
export function forcedRecord(record: PassRecord, forced: WriteRefusal | null): PassRecord {
  if (forced === null) return record;
  const message = `written although the target was ${forced.message} (${forced.flag})`;
  const messages = [record.message, message].filter((text) => text !== null);
  return { ...record, reason: record.reason ?? "Forced", message: messages.join("; ") };
}

// Uncommitted content has no revision. An apply is recorded by its end alone.
function revisionRead({ read, kept, applied, planned }: PassSeen): { readonly revision: string | null } | null {
  if (read !== null || kept !== null) return read;
  return applied?.report ?? planned?.plan ?? null;
}

const isoTime = (at: number) => new Date(at).toISOString();

function conditionOf({ applied }: PassSeen, { verdict }: PassConclusion): TargetStatus["condition"] {
  switch (verdict) {
    case "superseded":
      return "Reconciling";
    case "held":
      return "Held";
    case "failed":
      return "Stalled";
    case "succeeded":
      return applied?.report.outcomes.some(({ rollout }) => rollout === "progressing") ? "Reconciling" : "Ready";
  }
}

function syncOf(
  before: TargetStatus,
  { applied, planned, left }: Pick<PassSeen, "applied" | "planned"> & Pick<PassConclusion, "left">,
  isNewest: boolean,
): TargetStatus["sync"] {
  if (left !== null) {
    const isDrifted = applied?.report.outcomes.some(isDriftHeld) ?? false;
    if (left.length === 0) return isNewest && !isDrifted ? "Synced" : "OutOfSync";
    return left.every(({ reason }) => reason === "Unknown") ? "Unknown" : "OutOfSync";
  }
  if (planned === null) return before.sync;
  const { create, update, block, invalid } = planned.plan.summary;
  if (create + update + block + invalid > 0) return "OutOfSync";
  return planned.plan.complete ? "Synced" : "Unknown";
}

function invalidIn({ applied, planned }: PassSeen): readonly InvalidStatus[] | null {
  if (applied === null && planned === null) return null;
  const outcomes = applied?.report.outcomes.filter(({ result }) => result === "invalid") ?? planned?.invalid ?? [];
  return outcomes.slice(0, MAX_INVALID).map(invalidStatus);
}

function invalidStatus({ identity, file, line = null, error, lastGood = null }: Outcome): InvalidStatus {
  return { identity, file, line, message: redactFailureMessage(error?.message ?? ""), lastGood };
}

// The counts have the number of all.
const MAX_INVALID = 1000;

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

/** Whether a pass is recorded: it wrote, or its result or the number of what it left differs from the previous pass. */
export function isWorthRecording(record: PassRecord, before: PassRecord | null): boolean {
  const { created = 0, updated = 0 } = record.counts;
  if (before === null || created + updated > 0) return true;
  const { commit, result, reason } = before;
  const isSame = record.commit === commit && record.result === result && record.reason === reason;
  return !isSame || LEFT.some((name) => (record.counts[name] ?? 0) !== (before.counts[name] ?? 0));
}

const LEFT = ["failed", "unknown", "invalid"] as const;

/** What the status of a retired target says. */
export function retiredStatus(
  target: string,
): Pick<TargetStatus, "condition" | "reason" | "message" | "nextPassAt" | "oldestUnapplied"> {
  const message = `its pattern no longer stands for it: its state is kept, and nothing is deleted; holdfast orphans --target ${target} lists what it left`;
  return { condition: "Retired", reason: "Retired", message, nextPassAt: null, oldestUnapplied: null };
}
