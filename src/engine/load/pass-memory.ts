import { isDeepStrictEqual } from "node:util";
import { changesSince, withDependants } from "../../cache/source-index.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { PassResult } from "../../core/report/events.ts";
import { isSuccess } from "../../core/report/report.ts";
import { SourceError } from "../../source/source-error.ts";
import type { PassMemory } from "../../state/target-store.ts";
import { type DesiredRead, load } from "../load.ts";
import type { Run } from "../run.ts";
import type { Target } from "../target.ts";
import type { Desired } from "./desired.ts";
import { ShrunkSourceError } from "./source-guards.ts";

/** For more resources than this, reading whole lists costs less than reading each one. */
const MAX_SINGLE_READS = 100;

/** What a daemon remembers from one pass over a target to the next: what it keeps for other processes, and what it has read. */
export type ReadMemory = PassMemory & {
  /** The revision that was applied last, or planned by a daemon that only reports; null before the first pass. */
  readonly lastApplied: DesiredRead | null;
};

/** What a pass has done, as far as the next one must know it. */
type PassDone = {
  readonly read: DesiredRead;
  readonly result: PassResult;
  /** When it began, if it was a pass over everything. */
  readonly fullAt: number | null;
};

/** What a daemon remembers after a pass over a revision; an applied commit is also kept for the next process. */
export async function memoryAfter(
  { lastApplied, appliedCommit, lastFullPassAt, told }: ReadMemory,
  { read, result, fullAt }: PassDone,
  { source }: Target,
): Promise<ReadMemory> {
  const { revision } = read.desired;
  // Nobody has agreed to a commit that was only planned, so a later process must not fall back on it.
  const applied = result.what === "applied" ? revision : null;
  if (applied !== null && lastApplied?.desired.revision !== applied) await source.commits?.keep(applied);
  return {
    lastApplied: read,
    appliedCommit: applied ?? appliedCommit,
    unfinished: unfinishedIn(result),
    lastFullPassAt: fullAt ?? lastFullPassAt,
    told,
  };
}

function unfinishedIn(result: PassResult): PassMemory["unfinished"] {
  if (result.what !== "applied" || !result.plan.complete) return null;
  const left = result.report.outcomes.filter((outcome) => !isSuccess(outcome.result));
  // The next pass then reconciles everything.
  return left.length > MAX_SINGLE_READS ? null : left.map(({ identity }) => identity);
}

/** Returns the revision applied last in place of a refused one and reports that; throws the refusal where there is none. */
export async function lastAppliedInstead(
  error: unknown,
  memory: ReadMemory | null,
  target: Target,
  run: Run,
): Promise<DesiredRead> {
  if (memory === null || !(error instanceof HoldfastError) || run.stopping.aborted) throw error;
  const kept = await lastInForce(target, memory, run);
  if (kept === null) throw error;
  const { message, hint, diagnostics } = error;
  const reason = error instanceof SourceError ? error.reason : "SourceRefused";
  run.emit({ what: "kept", revision: kept.desired.revision, reason, message, hint, diagnostics });
  return { ...kept, isLastApplied: true };
}

/** Whether an error is about the source, so that the revision applied last may replace it. */
export function isAboutSource(error: unknown): boolean {
  if (error instanceof SourceError || error instanceof ShrunkSourceError) return true;
  return error instanceof HoldfastError && (error.code === "invalid" || error.code === "refused");
}

// Of a commit whose pass was cut short, some resources may be live already: the one before it would take them back.
async function lastInForce(target: Target, memory: ReadMemory, run: Run): Promise<DesiredRead | null> {
  const { lastApplied, begunCommit } = memory;
  if (begunCommit === undefined || lastApplied?.desired.revision === begunCommit)
    return lastApplied ?? readKept(target, memory, run);
  return readKept(target, { ...memory, appliedCommit: begunCommit }, run);
}

// An earlier process leaves only the commit, whose objects are in the local repository.
async function readKept(target: Target, { appliedCommit }: PassMemory, run: Run): Promise<DesiredRead | null> {
  const { source } = target;
  const commit = (await source.commits?.kept(appliedCommit)) ?? null;
  if (source.commits === null || commit === null) return null;
  const commits = { ...source.commits, resolve: async () => commit };
  return load({ ...target, source: { ...source, commits } }, run, { before: null });
}

/**
 * The part of a source that a commit pass reconciles: changes since the revision applied last, unfinished resources of its
 * pass, and resources that refer to either. Null where the pass must reconcile everything.
 */
export function changedManifests(read: DesiredRead, { lastApplied: before, unfinished }: ReadMemory): Desired | null {
  const { desired, rules, from } = read;
  if (before === null || unfinished === null || from === null || before.from === null) return null;
  if (!desired.isWhole || !isDeepStrictEqual(rules, before.rules)) return null;
  const changed = changesSince(before.from, from);
  const manifests = changed && withDependants(new Set(unfinished).union(changed), from, MAX_SINGLE_READS);
  if (manifests === null) return null;
  return { ...desired, manifests, isWhole: false, outOfScope: desired.manifests.length - manifests.length };
}
