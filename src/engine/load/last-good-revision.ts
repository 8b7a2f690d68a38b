import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PassEnd } from "../../core/report/events.ts";
import { isSuccess } from "../../core/report/report.ts";
import { SourceError } from "../../source/source-error.ts";
import { type DesiredRead, readDesired } from "../load.ts";
import type { Run } from "../pass.ts";
import type { Target } from "../target.ts";
import { ShrunkSourceError } from "./source-guards.ts";

/** The last revision that a daemon applied; it stays in use while a newer one is refused. */
export type LastGood = {
  read: DesiredRead | null;
  /** Resources that the last pass over it did not finish; null where they are unknown and everything must be reconciled. */
  unfinished: ReadonlySet<Identity> | null;
};

/** Keeps a revision as the last good one; an applied commit is also kept for the next process. */
export async function keepAsGood(
  lastGood: LastGood,
  { read, end }: { readonly read: DesiredRead; readonly end: PassEnd },
  { source }: Target,
): Promise<void> {
  const { revision } = read.desired;
  const isNew = lastGood.read?.desired.revision !== revision;
  lastGood.read = read;
  lastGood.unfinished = unfinishedIn(end);
  // Nobody has agreed to a commit that was only planned, so a later process must not fall back on it.
  if (isNew && revision !== null && end.what === "applied") await source.commits?.keep(revision);
}

function unfinishedIn(end: PassEnd): LastGood["unfinished"] {
  if (end.what !== "applied" || !end.plan.complete) return null;
  const left = end.report.outcomes.filter(({ result }) => !isSuccess(result));
  return new Set(left.map(({ identity }) => identity));
}

/** Returns the last good revision in place of a refused one and reports that; throws the refusal where there is none. */
export async function lastGoodInstead(
  error: unknown,
  lastGood: LastGood | null,
  target: Target,
  run: Run,
): Promise<DesiredRead> {
  if (lastGood === null || !(error instanceof HoldfastError) || run.stopping.aborted) throw error;
  const kept = lastGood.read ?? (await readKept(target, run));
  if (kept === null) throw error;
  lastGood.read = kept;
  const { message, hint, diagnostics } = error;
  const reason = error instanceof SourceError ? error.reason : "SourceRefused";
  run.emit({ what: "kept", revision: kept.desired.revision, reason, message, hint, diagnostics });
  return { ...kept, isLastGood: true };
}

/** Whether an error is about the source, so that its last good revision may replace it. */
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
  return readDesired({ ...target, source: { ...source, commits } }, { ...run, before: null });
}
