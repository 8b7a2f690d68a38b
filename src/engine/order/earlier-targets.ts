import { decideOrder, type EarlierTarget, type OrderDecision, type OrderRule } from "../../core/stages/decide-order.ts";
import { type ExaminedCommit, progressAfter, type TargetProgress } from "../../core/stages/target-progress.ts";
import { isUnusableState } from "../../state/is-storage-error.ts";
import type { Stoppable } from "../run.ts";
import type { Target } from "../target.ts";

/** Reads live of what a commit declares on the target of a name. */
export type Examination = (name: string, commit: string, run: Stoppable) => Promise<ExaminedCommit>;

/** The targets before a target, and how they are read. */
export type EarlierTargets = {
  readonly rule: OrderRule;
  readonly names: readonly string[];
  /** The names of the retired targets that were before it. */
  readonly retired: readonly string[];
  /** The patterns that match no target. */
  readonly unmatched: readonly string[];
  /** A target, only to be read. */
  readonly other: (name: string) => Target;
  readonly examine: Examination;
};

/**
 * Decides which of some commits, newest first, a target may apply. A record may be older than what runs, so live is read
 * before a commit that should run on a target now is let through.
 */
export async function decideWithLive(
  { rule, names, retired: retiredNames, unmatched, other, examine }: EarlierTargets,
  candidates: readonly string[],
  run: Stoppable,
): Promise<OrderDecision> {
  const recordedOf = (name: string): Promise<EarlierTarget> => recorded(name, other(name));
  const retired = await Promise.all(retiredNames.map(recordedOf));
  let earlier = await Promise.all(names.map(recordedOf));
  const examined = new Set<string>();
  for (;;) {
    const decision = decideOrder({ rule, earlier, retired, unmatched, candidates });
    if (decision.is !== "met") return decision;
    const { commit } = decision;
    const keyOf = (name: string): string => `${name} ${commit}`;
    const open = earlier.filter(({ target, progress }) => {
      return lastCommit(progress) === commit && !examined.has(keyOf(target));
    });
    if (open.length === 0) return decision;
    for (const { target } of open) examined.add(keyOf(target));
    const live = await Promise.all(
      open.map(async ({ target }) => withLive(await examine(target, commit, run), commit, await recordedOf(target))),
    );
    earlier = earlier.map((one) => live.find(({ target }) => target === one.target) ?? one);
  }
}

const lastCommit = (progress: TargetProgress | null): string | null => progress?.commits.at(-1)?.commit ?? null;

async function recorded(target: string, { state }: Target): Promise<EarlierTarget> {
  return { target, progress: await progressOf(state) };
}

/** How far commits have come on a target; null if its state cannot be read. */
export async function progressOf({ target }: Pick<Target["state"], "target">): Promise<TargetProgress | null> {
  try {
    return await (await target()).progress();
  } catch (error) {
    if (!isUnusableState(error)) throw error;
    return null;
  }
}

// The target may have moved on while it was read.
function withLive(live: ExaminedCommit, commit: string, { target, progress }: EarlierTarget): EarlierTarget {
  const last = progress?.commits.at(-1);
  if (progress === null || last?.commit !== commit) return { target, progress };
  return { target, progress: progressAfter(progress, { ...last, ...live, observedMs: 0 }) };
}
