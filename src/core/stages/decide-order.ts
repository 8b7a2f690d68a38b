import { durationText } from "./duration.ts";
import { type CommitProgress, hasFailed, type TargetProgress } from "./target-progress.ts";

/** When a commit may leave the targets of `after`. */
export type OrderRule = {
  readonly when: "synced" | "healthy";
  /** For how long it must have been healthy there. */
  readonly soakMs: number;
};

/** A target that a commit must have passed, with what it has recorded; null if its state cannot be found. */
export type EarlierTarget = { readonly target: string; readonly progress: TargetProgress | null };

/** What decides which commit a target may apply. */
export type OrderInput = {
  readonly rule: OrderRule;
  readonly earlier: readonly EarlierTarget[];
  /** The retired targets that were before it: one that had failed halts what comes after it. */
  readonly retired: readonly EarlierTarget[];
  /** The patterns of `after` that match no target now. */
  readonly unmatched: readonly string[];
  /** The commits that the target could apply, the newest first. */
  readonly candidates: readonly string[];
};

/** A target that a commit waits for, and what is missing there. */
export type Missing = { readonly target: string; readonly what: string };

/** Which commit a target may apply; `halted` if a target before it has failed. */
export type OrderDecision =
  | { readonly is: "met"; readonly commit: string }
  | { readonly is: "waiting" | "halted"; readonly missing: readonly Missing[] };

/** Decides which commit a target may apply: the newest one that every target before it has passed. */
export function decideOrder({ rule, earlier, retired, unmatched, candidates }: OrderInput): OrderDecision {
  const failed = [...failuresOf(earlier, rule), ...failuresOf(retired, rule).map(beforeRetired)];
  if (failed.length > 0) return { is: "halted", missing: failed };
  const nobody = unmatched.map((pattern) => ({ target: pattern, what: "no target matches" }));
  const met = candidates.find((commit) => missingAt(commit, earlier, rule).length === 0);
  if (met !== undefined && nobody.length === 0) return { is: "met", commit: met };
  const [newest] = candidates;
  const missing = newest === undefined ? [] : missingAt(newest, earlier, rule);
  return { is: "waiting", missing: [...nobody, ...missing] };
}

/** Whether a commit is done on a target, as `when` says. */
export function isDone(progress: CommitProgress, when: OrderRule["when"]): boolean {
  return progress.isApplied && progress.failure === null && (when === "synced" || progress.health === "healthy");
}

function missingAt(commit: string, earlier: readonly EarlierTarget[], rule: OrderRule): readonly Missing[] {
  return earlier.flatMap(({ target, progress }) => {
    const what = progress === null ? "its state cannot be found" : whatIsMissing(commit, progress, rule);
    return what === null ? [] : [{ target, what }];
  });
}

function whatIsMissing(commit: string, { commits }: TargetProgress, { when, soakMs }: OrderRule): string | null {
  const found = commits.find((one) => one.commit === commit);
  const short = commit.slice(0, 12);
  if (found === undefined) return `has not applied commit ${short}`;
  const why = found.why === null ? "" : `: ${found.why}`;
  if (found.failure !== null || !found.isApplied) return `has not applied all of commit ${short}${why}`;
  const needsHealth = when === "healthy" || soakMs > 0;
  if (needsHealth && found.health !== "healthy") return `commit ${short} is not healthy there${why}`;
  if (found.healthyMs >= soakMs) return null;
  return `commit ${short} has been healthy there for ${durationText(found.healthyMs)} of ${durationText(soakMs)}`;
}

function failuresOf(targets: readonly EarlierTarget[], rule: OrderRule): readonly Missing[] {
  return targets.flatMap(({ target, progress }) => failureOf(target, progress?.commits.at(-1), rule));
}

// Nothing can heal it there any more, and its commit may still be part of the newer ones.
function beforeRetired({ target, what }: Missing): Missing {
  return { target, what: `${what}, and it is retired` };
}

// Only the commit that runs there counts: a later one that heals ends the failure.
function failureOf(target: string, last: CommitProgress | undefined, { when, soakMs }: OrderRule): readonly Missing[] {
  if (last === undefined) return [];
  const needsHealth = when === "healthy" || soakMs > 0;
  if (!hasFailed(last, needsHealth)) return [];
  return [
    { target, what: `commit ${last.commit.slice(0, 12)} failed there: ${last.failure ?? last.why ?? "a rollout"}` },
  ];
}

/** A target of the same stage, and the commit that it has begun and not finished. */
export type StageMember = { readonly target: string; readonly begun: string | null };

/** The targets that take all places of `maxUpdate`; empty if one is free. */
export function decidePlace(others: readonly StageMember[], maxUpdate: number): readonly Missing[] {
  const taken = others.flatMap(({ target, begun }) => (begun === null ? [] : [{ target, begun }]));
  if (taken.length < maxUpdate) return [];
  return taken.map(({ target, begun }) => ({
    target,
    what: `applies commit ${begun.slice(0, 12)}, and only ${maxUpdate} of the stage may change at once`,
  }));
}

/** Whether a target that took a place at the same time as others takes it before them: as many of the first by name as are free. */
export function goesFirst(
  name: string,
  { before, after }: { readonly before: readonly StageMember[]; readonly after: readonly StageMember[] },
  maxUpdate: number,
): boolean {
  const taken = before.filter(({ begun }) => begun !== null).map(({ target }) => target);
  const rivals = after.filter(({ target, begun }) => begun !== null && !taken.includes(target));
  return rivals.filter(({ target }) => target < name).length < maxUpdate - taken.length;
}

/** What a commit waits for, as one line. */
export function missingText(missing: readonly Missing[]): string {
  const shown = missing.slice(0, MAX_SHOWN).map(({ target, what }) => `${target}: ${what}`);
  const more = missing.length > MAX_SHOWN ? [`and ${missing.length - MAX_SHOWN} more`] : [];
  return [...shown, ...more].join("; ");
}

const MAX_SHOWN = 3;
