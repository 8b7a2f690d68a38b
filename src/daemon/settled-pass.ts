import type { RecordedRequests } from "../client/recorded-requests.ts";
import { isListOperation } from "../contract/operations.ts";
import { decisionsAt } from "../core/holds.ts";
import type { PassEvent, PassResult, ReadEvent } from "../core/report/events.ts";
import { type SettledPass, settledEnd } from "../core/report/settled-pass.ts";
import type { Stoppable } from "../engine/run.ts";
import type { Target } from "../engine/target.ts";
import { kindOf } from "../kinds/index.ts";
import type { CommitSource } from "../source/read-source.ts";
import { SourceError } from "../source/source-error.ts";
import type { TargetClaim } from "../state/target-store.ts";
import type { PassJob } from "./pass-queue.ts";

/** One pass of a target where processes share the passes: what the one before has left, and what it reads and writes under. */
export type SharedTurn = {
  readonly claim: TargetClaim | undefined;
  readonly settled: SettledPass | undefined;
  /** The number of the lock of the state; null where it has none. */
  readonly lock: number | null;
  /** Whether this process held the lock before. */
  readonly isOwn: boolean;
  readonly requests: RecordedRequests;
};

type Settings = Stoppable & { readonly settingsDigest: () => string };

// What depends on the time, such as how long a record is trusted without a list, is decided anew after that time.
const MOST_AGE_MS = 3_600_000;
// A control plane that takes longer is read by a pass, which tells why.
const MOST_WAIT_MS = 10_000;

/**
 * The earlier pass that found nothing to do, if everything that it was made from is as it was: the commit, the configuration, the
 * program, what is recorded, and each answer of the control plane; else null.
 */
export async function unchangedPass(
  target: Target,
  { settled, lock, requests }: SharedTurn,
  job: PassJob | null,
  { clock, stopping: signal, settingsDigest }: Settings,
): Promise<SettledPass | null> {
  const { commits } = target.source;
  const now = clock.now();
  if (settled === undefined || lock === null || commits === null) return null;
  // A push is most likely another commit.
  if (job?.cause === "webhook" || job?.cause === "change") return null;
  const isYoung = settled.at <= now && now - settled.at < MOST_AGE_MS;
  if (!isYoung || settled.lock !== lock - 1 || settled.settings !== settingsDigest()) return null;
  if (!(await isUndisturbed(target, now))) return null;
  if ((await newestOf(commits, signal)) !== settled.commit) return null;
  const timed = { signal: AbortSignal.any([signal, clock.timeout(MOST_WAIT_MS)]) };
  return (await requests.haveSameAnswers(settled.requests, timed)) ? { ...settled, lock } : null;
}

// A pass tells why its source cannot be read, and goes on with the commit before.
async function newestOf(commits: CommitSource, signal: AbortSignal): Promise<string | null> {
  try {
    return await commits.resolve({ signal });
  } catch (error) {
    if (error instanceof SourceError) return null;
    throw error;
  }
}

/** A pass in progress whose inputs are recorded, so that the next ones need not be made if it finds nothing to do. */
export type RecordedPass = {
  /** What it is made of, in place of the target itself. */
  readonly target: Target;
  readonly onEvent: (event: PassEvent) => void;
  /** What is kept of it for the next ones; null if it found something to do, or depends on what may change unseen. */
  readonly settled: (result: PassResult, settings: Settings) => Promise<SettledPass | null>;
};

const MOST_CHARACTERS = 100_000;

/** Begins to record what a pass is made from: its requests, what it reads, and whether it asks other targets. */
export function recordPass(target: Target, { lock, requests }: SharedTurn, startedAt: number): RecordedPass {
  const { declaredElsewhere, source } = target;
  let askedOthers = false;
  let read: ReadEvent | null = null;
  requests.begin();
  return {
    target: {
      ...target,
      ...(declaredElsewhere && {
        declaredElsewhere: (identities) => {
          askedOthers = true;
          return declaredElsewhere(identities);
        },
      }),
    },
    onEvent: (event) => {
      if (event.what === "read") read = event;
      if (event.what === "kept") read = null;
    },
    settled: async (result, { settingsDigest }) => {
      if (result.what !== "applied" || read === null || askedOthers) return null;
      // Whether a value has changed shows only where it is.
      if (result.plan.steps.some(({ kind }) => kindOf(kind)?.values !== undefined)) return null;
      const end = settledEnd(read, result);
      const commit = end?.read.revision ?? null;
      const asked = requests.sinceBegin() ?? [];
      if (end === null || lock === null || commit === null || asked.length === 0) return null;
      // While digests are the same, the next pass reads no list, and asks for less.
      const hasDigests = asked.some(({ operation, digest }) => operation === "getDigest" && digest !== null);
      if (hasDigests && asked.some(({ operation }) => isListOperation(operation))) return null;
      if (source.commits === null || !(await isUndisturbed(target, startedAt))) return null;
      if (JSON.stringify([asked, end]).length > MOST_CHARACTERS) return null;
      return { at: startedAt, lock, commit, settings: settingsDigest(), requests: asked, end };
    },
  };
}

// What other targets, people or the time decide is decided in each pass, and what is below `modelRoot` belongs to no commit.
async function isUndisturbed({ order, freezes, modelRoot, state }: Target, now: number): Promise<boolean> {
  if (modelRoot !== undefined || order?.hasOthers === true || (freezes?.at(now) ?? null) !== null) return false;
  const decisions = await (await state.target()).decisions();
  return decisionsAt(decisions, now).holds.length === 0;
}
