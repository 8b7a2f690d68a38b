import { durationText } from "./duration.ts";
import type { CommitObservation, CommitProgress, ExaminedCommit } from "./target-progress.ts";

/** When a process found a target healthy last, and since when it finds it rolling out, by a clock that nobody sets; null where it does not. */
export type HealthTimes = { readonly healthyAt: number | null; readonly progressingSince: number | null };

/** The times of a process that has found nothing yet. */
export const NO_TIMES: HealthTimes = { healthyAt: null, progressingSince: null };

/** What a pass and the look at live after it have found of the commit that runs on a target. */
export type SeenCommit = ExaminedCommit &
  Pick<CommitObservation, "commit" | "failure"> & { readonly hasBadRollout: boolean };

/** The time of an observation, and its limits: longer gaps do not count, and longer rollouts have failed. */
export type ObservedAt = { readonly now: number; readonly maxGapMs: number; readonly waitMs: number };

/** Adds the times of a process to what it has found; the observation is null if no commit is known. */
export function observeHealth(
  before: HealthTimes,
  seen: SeenCommit | null,
  { now, maxGapMs, waitMs }: ObservedAt,
): { readonly times: HealthTimes; readonly observation: CommitObservation | null } {
  if (seen === null) return { times: NO_TIMES, observation: null };
  const { hasBadRollout, ...found } = seen;
  const isHealthy = isFoundHealthy(found);
  const progressingSince = found.health === "progressing" ? (before.progressingSince ?? now) : null;
  const gap = before.healthyAt === null || !isHealthy ? 0 : now - before.healthyAt;
  const isLate = hasBadRollout || (progressingSince !== null && now - progressingSince > waitMs);
  const isStuck = found.isApplied && found.health === "progressing" && isLate;
  const late = { health: "failed", why: `${found.why}, for longer than ${durationText(waitMs)}` } as const;
  return {
    times: { healthyAt: isHealthy ? now : null, progressingSince },
    observation: { ...found, ...(isStuck ? late : {}), observedMs: countedMs(gap, maxGapMs) },
  };
}

function isFoundHealthy({ isApplied, health, failure }: Omit<CommitObservation, "observedMs">): boolean {
  return isApplied && health === "healthy" && failure === null;
}

function countedMs(gap: number, maxGapMs: number): number {
  return gap > maxGapMs || gap < 0 ? 0 : gap;
}

/** When an observation is recorded, by the clock that the processes share, and which of them made the one before it. */
export type RecordedAt = { readonly now: number | null; readonly isOwn: boolean; readonly maxGapMs: number };

/** Measures the time since the observation before by the clock that the processes share, if another one made that. */
export function sharedObservation(
  observation: CommitObservation,
  before: CommitProgress | undefined,
  { now, isOwn, maxGapMs }: RecordedAt,
): CommitObservation {
  const sharedMs = now === null || before?.healthyAt === undefined ? 0 : countedMs(now - before.healthyAt, maxGapMs);
  const observedMs = isOwn ? observation.observedMs : sharedMs;
  return { ...observation, observedMs, ...(now !== null && isFoundHealthy(observation) ? { healthyAt: now } : {}) };
}
