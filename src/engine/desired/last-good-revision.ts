import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import type { PassEnd } from "../../core/report/events.ts";
import { isSuccess } from "../../core/report/report.ts";
import { SourceError } from "../../source/source-error.ts";
import type { PassContext } from "../pass.ts";
import type { Target } from "../target.ts";
import { type DesiredRead, readDesired } from "./read-desired.ts";
import { ShrunkSourceError } from "./require-unshrunk.ts";

/** The last revision that a daemon carried out, to go on with while a newer one is refused. */
export type LastGood = {
  read: DesiredRead | null;
  /** What the last pass over it left undone; null where nobody can tell, and everything is to be looked at. */
  unfinished: ReadonlySet<Identity> | null;
};

/** Keeps a revision that was applied as the last good one; a commit also for the next process. */
export async function keepAsGood(
  lastGood: LastGood,
  { read, end }: { readonly read: DesiredRead; readonly end: PassEnd },
  { source }: Target,
): Promise<void> {
  const { revision } = read.desired;
  const isNew = lastGood.read?.desired.revision !== revision;
  lastGood.read = read;
  lastGood.unfinished = unfinishedIn(end);
  if (isNew && revision !== null) await source.commits?.keep(revision);
}

function unfinishedIn(end: PassEnd): LastGood["unfinished"] {
  if (end.what !== "applied" || !end.plan.complete) return null;
  const left = end.report.outcomes.filter(({ result }) => !isSuccess(result));
  return new Set(left.map(({ identity }) => identity));
}

/** Answers the last good revision in place of a refused one and reports that; throws the refusal where there is none. */
export async function lastGoodInstead(
  error: unknown,
  lastGood: LastGood | null,
  target: Target,
  context: PassContext,
): Promise<DesiredRead> {
  if (lastGood === null || !(error instanceof HoldfastError) || context.stopping.aborted) throw error;
  const kept = lastGood.read ?? (await readKept(target, context));
  if (kept === null) throw error;
  lastGood.read = kept;
  const { message, hint, diagnostics } = error;
  const reason = error instanceof SourceError ? error.reason : "SourceRefused";
  context.emit({ what: "kept", revision: kept.desired.revision, reason, message, hint, diagnostics });
  // What people hold counts for this revision too.
  return { ...kept, rules: { ...kept.rules, held: target.rules({}).held } };
}

/** Whether an error is about the source, so that its last good revision may stand in. */
export function isAboutSource(error: unknown): boolean {
  if (error instanceof SourceError || error instanceof ShrunkSourceError) return true;
  return error instanceof HoldfastError && (error.code === "invalid" || error.code === "refused");
}

// Of an earlier process only the commit is known, and its objects are here.
async function readKept(target: Target, context: PassContext): Promise<DesiredRead | null> {
  const { source } = target;
  const commit = (await source.commits?.kept()) ?? null;
  if (source.commits === null || commit === null) return null;
  const commits = { ...source.commits, resolve: async () => commit };
  return readDesired({ ...target, source: { ...source, commits } }, { ...context, before: null });
}
