import { isDeepStrictEqual } from "node:util";
import { changesSince, withDependants } from "../../cache/source-index.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PassResult } from "../../core/report/events.ts";
import { isSuccess } from "../../core/report/report.ts";
import { SourceError } from "../../source/source-error.ts";
import { type DesiredRead, load } from "../load.ts";
import type { Run } from "../run.ts";
import type { Target } from "../target.ts";
import type { Desired } from "./desired.ts";
import { ShrunkSourceError } from "./source-guards.ts";

/** What a daemon remembers from one pass over a target to the next. */
export type PassMemory = {
  /** The revision that was applied last, or planned by a daemon that only reports; null before the first pass. */
  readonly lastApplied: DesiredRead | null;
  /** Resources that the last pass over it did not finish; null where they are unknown and everything must be reconciled. */
  readonly unfinished: ReadonlySet<Identity> | null;
};

/** What a daemon remembers before its first pass. */
export const NO_MEMORY: PassMemory = { lastApplied: null, unfinished: null };

/** What a daemon remembers after a pass over a revision; an applied commit is also kept for the next process. */
export async function memoryAfter(
  { lastApplied }: PassMemory,
  { read, end }: { readonly read: DesiredRead; readonly end: PassResult },
  { source }: Target,
): Promise<PassMemory> {
  const { revision } = read.desired;
  const isNew = lastApplied?.desired.revision !== revision;
  // Nobody has agreed to a commit that was only planned, so a later process must not fall back on it.
  if (isNew && revision !== null && end.what === "applied") await source.commits?.keep(revision);
  return { lastApplied: read, unfinished: unfinishedIn(end) };
}

function unfinishedIn(end: PassResult): PassMemory["unfinished"] {
  if (end.what !== "applied" || !end.plan.complete) return null;
  const left = end.report.outcomes.filter(({ result }) => !isSuccess(result));
  return new Set(left.map(({ identity }) => identity));
}

/** Returns the revision applied last in place of a refused one and reports that; throws the refusal where there is none. */
export async function lastAppliedInstead(
  error: unknown,
  memory: PassMemory | null,
  target: Target,
  run: Run,
): Promise<DesiredRead> {
  if (memory === null || !(error instanceof HoldfastError) || run.stopping.aborted) throw error;
  const kept = memory.lastApplied ?? (await readKept(target, run));
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

// An earlier process leaves only the commit, whose objects are in the local repository.
async function readKept(target: Target, run: Run): Promise<DesiredRead | null> {
  const { source } = target;
  const commit = (await source.commits?.kept()) ?? null;
  if (source.commits === null || commit === null) return null;
  const commits = { ...source.commits, resolve: async () => commit };
  return load({ ...target, source: { ...source, commits } }, run, { before: null });
}

/** For more resources than this, reading whole lists costs less than reading each one. */
const MAX_SINGLE_READS = 100;

/**
 * The part of a source that a commit pass reconciles: changes since the revision applied last, unfinished resources of its
 * pass, and resources that refer to either. Null where the pass must reconcile everything.
 */
export function changedManifests(read: DesiredRead, { lastApplied: before, unfinished }: PassMemory): Desired | null {
  const { desired, rules, from } = read;
  if (before === null || unfinished === null || from === null || before.from === null) return null;
  if (!desired.isWhole || !isDeepStrictEqual(rules, before.rules)) return null;
  const changed = changesSince(before.from, from);
  const manifests = changed && withDependants(unfinished.union(changed), from, MAX_SINGLE_READS);
  if (manifests === null) return null;
  return { ...desired, manifests, isWhole: false, outOfScope: desired.manifests.length - manifests.length };
}
