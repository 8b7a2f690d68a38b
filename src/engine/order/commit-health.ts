import type { Clock } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { redactFailureMessage } from "../../core/redact/redact-message.ts";
import type { ApplyEvent } from "../../core/report/events.ts";
import { applyConclusion, isHolding, reasonsText } from "../../core/report/pass-result.ts";
import { hasBadRollout } from "../../core/report/report.ts";
import { NO_TIMES, observeHealth } from "../../core/stages/observe-health.ts";
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

/** Observes the health of a target after its passes, with the time since this process did so last; null if no commit is known. */
type CommitHealth = (target: Target, pass: PassOfOrder, run: Stoppable) => Promise<CommitObservation | null>;

/** Creates the observation of one target; longer times than `maxGapMs` between two observations do not count. */
export function createCommitHealth(
  examine: (commit: string, run: Stoppable) => Promise<ExaminedCommit>,
  maxGapMs: number,
  { monotonic }: Clock,
): CommitHealth {
  let times = NO_TIMES;
  return async (target, { applied, commit }, run) => {
    const examined = commit === null ? null : { commit, ...(await examine(commit, run)) };
    const failure = applied === null ? null : failureOf(applied);
    const hasBad = applied?.report.outcomes.some(hasBadRollout) ?? false;
    const seen = examined && { ...examined, failure, hasBadRollout: hasBad };
    const waitMs = target.rules(target.source.config.repository).rolloutTimeoutMs;
    // Monotonic time: a clock that is set says nothing of how long a target was healthy.
    const observed = observeHealth(times, seen, { now: monotonic(), maxGapMs, waitMs });
    times = observed.times;
    return observed.observation;
  };
}

// A failed rollout is a matter of health, and what a hold or a freeze leaves is no failure.
function failureOf(applied: ApplyEvent): string | null {
  const left = applyConclusion(applied).left ?? [];
  return reasonsText(left.filter((one) => one.reason !== "RolloutFailed" && !isHolding(one)));
}
