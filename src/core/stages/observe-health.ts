import { durationText } from "./duration.ts";
import type { CommitObservation, ExaminedCommit } from "./target-progress.ts";

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
  const isHealthy = found.isApplied && found.health === "healthy" && found.failure === null;
  const progressingSince = found.health === "progressing" ? (before.progressingSince ?? now) : null;
  const gap = before.healthyAt === null || !isHealthy ? 0 : now - before.healthyAt;
  const isLate = hasBadRollout || (progressingSince !== null && now - progressingSince > waitMs);
  const isStuck = found.isApplied && found.health === "progressing" && isLate;
  const late = { health: "failed", why: `${found.why}, for longer than ${durationText(waitMs)}` } as const;
  return {
    times: { healthyAt: isHealthy ? now : null, progressingSince },
    observation: { ...found, ...(isStuck ? late : {}), observedMs: gap > maxGapMs || gap < 0 ? 0 : gap },
  };
}
