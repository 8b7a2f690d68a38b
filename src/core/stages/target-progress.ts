// src/core/stages: the order in which commits reach targets. See docs/pod.md#order-between-targets.

/** How far a commit has come on a target, as the target itself has recorded it. */
export type CommitProgress = {
  readonly commit: string;
  /** Whether all of it is recorded and in live. */
  readonly isApplied: boolean;
  /** Why the pass over it failed; null if it did not. */
  readonly failure: string | null;
  /** Of its rollouts; `failed` also for one that has not ended in time. */
  readonly health: "healthy" | "progressing" | "failed" | "unknown";
  /** What is not applied, or not healthy; null if nothing is. */
  readonly why: string | null;
  /** A digest of what runs there: of our receipts and the live versions; null where it could not be read. */
  readonly content: string | null;
  /** For how long it was observed to be healthy without interruption. */
  readonly healthyMs: number;
  /** When it was observed last, by the clock that the processes of its state share; absent where it was not healthy, or there is none. */
  readonly healthyAt?: number;
};

/** The commits of a target, the one that runs there last, and which one it has begun to apply. */
export type TargetProgress = {
  readonly commits: readonly CommitProgress[];
  /** The commit that takes one of the places of `maxUpdate`; null if none does. */
  readonly begun: string | null;
  /** The commit that a person has let through last before its order was met; absent if there was none. */
  readonly allowed?: string;
  /** The configuration with which a commit was applied last, as a digest; absent where none was recorded. */
  readonly configuration?: string;
};

/** The progress of a target that has recorded none. */
export const NO_PROGRESS: TargetProgress = { commits: [], begun: null };

/** What was seen of a commit in live. */
export type CommitObservation = Omit<CommitProgress, "healthyMs"> & {
  /** The time since the observation before it, if that one found the target healthy; else 0. */
  readonly observedMs: number;
};

/** What live says of a commit: whether our receipts of it are there, and whether its rollouts are healthy. */
export type ExaminedCommit = Pick<CommitObservation, "isApplied" | "health" | "why" | "content">;

/** Whether a commit has failed on a target: its pass, or its rollouts where they count. */
export function hasFailed({ failure, health }: CommitProgress, needsHealth = true): boolean {
  return failure !== null || (needsHealth && health === "failed");
}

/** What is known of a commit whose live state could not be read. */
export function unseen(why: string): ExaminedCommit {
  return { isApplied: false, health: "unknown", why, content: null };
}

const MAX_COMMITS = 50;

/** The progress of a target after an observation of the commit that runs there. */
export function progressAfter(progress: TargetProgress, observation: CommitObservation): TargetProgress {
  const { commits } = progress;
  const { observedMs: _, ...seen } = observation;
  const before = commits.at(-1);
  const others = commits.filter(({ commit }) => commit !== seen.commit);
  // What could not be read is compared with what was read before it.
  const content = seen.health === "unknown" && before?.commit === seen.commit ? before.content : seen.content;
  const next = { ...seen, content, healthyMs: healthyMsAfter(before, observation) };
  return { ...progress, commits: [...others, next].slice(-MAX_COMMITS) };
}

// A commit that changes nothing continues the time of the one before it, because the same content runs.
function healthyMsAfter(
  before: CommitProgress | undefined,
  { commit, isApplied, failure, health, content, observedMs }: CommitObservation,
): number {
  if (before === undefined || failure !== null) return 0;
  // What could not be seen is no interruption, and its time does not count.
  if (health === "unknown") return before.commit === commit ? before.healthyMs : 0;
  const isContinued = isApplied && health === "healthy" && content !== null && before.content === content;
  return isContinued ? before.healthyMs + Math.max(0, observedMs) : 0;
}

/** Takes one of the places of `maxUpdate` for a commit. */
export function withBegun(progress: TargetProgress, begun: string | null): TargetProgress {
  return { ...progress, begun };
}
