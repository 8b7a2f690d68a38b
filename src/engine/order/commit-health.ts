import type { Clock } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { redactFailureMessage } from "../../core/redact/redact-message.ts";
import type { ApplyEvent } from "../../core/report/events.ts";
import { applyConclusion, reasonsText } from "../../core/report/pass-result.ts";
import { hasBadRollout } from "../../core/report/report.ts";
import { durationText } from "../../core/stages/duration.ts";
import { type CommitObservation, type ExaminedCommit, unseen } from "../../core/stages/target-progress.ts";
import { load } from "../load.ts";
import type { Stoppable } from "../run.ts";
import type { PassOfOrder, Target } from "../target.ts";

/** Reads live of what a commit declares on a target. */
export async function examineCommit(target: Target, commit: string, run: Stoppable): Promise<ExaminedCommit> {
  return unlessFailed(run, async () => {
    const { source } = target;
    const commits = source.commits && { ...source.commits, resolve: async () => commit };
    const read = await load({ ...target, source: { ...source, commits } }, run);
    if (read.desired.revision !== commit) return unseen("its source is at another commit");
    // Imported here, so that a command that looks at no other target does not load the comparison with live.
    const { examine } = await import("../examine.ts");
    return examine(target, read, run);
  });
}

async function unlessFailed({ stopping }: Stoppable, work: () => Promise<ExaminedCommit>): Promise<ExaminedCommit> {
  try {
    return await work();
  } catch (error) {
    stopping.throwIfAborted();
    return unseen(redactFailureMessage(errorMessage(error)));
  }
}

/** Observes the health of a target after its passes; only time that this process has observed counts. */
export type CommitHealth = {
  /** Null if no commit was applied, or none is known. */
  readonly observe: (target: Target, pass: PassOfOrder, run: Stoppable) => Promise<CommitObservation | null>;
};

/** Creates the observation of one target; longer times than `maxGapMs` between two observations do not count. */
export function createCommitHealth(maxGapMs: number, { monotonic }: Clock): CommitHealth {
  // Monotonic time: a clock that is set says nothing of how long a target was healthy.
  let healthyAt: number | null = null;
  let progressingSince: number | null = null;
  return {
    observe: async (target, { applied, commit }, run) => {
      const seen = commit === null ? null : { commit, ...(await examineCommit(target, commit, run)) };
      const now = monotonic();
      const failure = applied === null ? null : failureOf(applied);
      const isHealthy = seen?.isApplied === true && seen.health === "healthy" && failure === null;
      const gap = healthyAt === null || !isHealthy ? 0 : now - healthyAt;
      healthyAt = isHealthy ? now : null;
      progressingSince = seen?.health === "progressing" ? (progressingSince ?? now) : null;
      if (seen === null) return null;
      const since = progressingSince === null ? 0 : now - progressingSince;
      const waitMs = target.rules(target.source.config.repository).rolloutTimeoutMs;
      const isLate = applied?.report.outcomes.some(hasBadRollout) || since > waitMs;
      const stuck = seen.isApplied && seen.health === "progressing" && isLate;
      return {
        ...seen,
        failure,
        ...(stuck ? { health: "failed", why: `${seen.why}, for longer than ${durationText(waitMs)}` } : {}),
        observedMs: gap > maxGapMs ? 0 : gap,
      };
    },
  };
}

// A failed rollout is a matter of health, and a hold is no failure.
function failureOf(applied: ApplyEvent): string | null {
  const left = applyConclusion(applied).left ?? [];
  return reasonsText(left.filter(({ reason }) => reason !== "RolloutFailed" && reason !== "Held"));
}
