import PQueue from "p-queue";
import { ClientError } from "../../client/client-error.ts";
import type { Stop } from "../../clock/clock.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { hasContentOf } from "../../core/diff/compared-content.ts";
import { HoldfastError } from "../../core/errors.ts";
import { OTHER_WRITER } from "../../core/guards/other-writer.ts";
import { type WriteRefusal, writeRefusedOutcome } from "../../core/guards/write-refusal.ts";
import { manifestToSend } from "../../core/ignore/keep-ignored.ts";
import type { FileUpload } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, requireRead } from "../../core/manifest.ts";
import { type Step, writes } from "../../core/plan/plan.ts";
import { isSuccess, type Outcome, type OutcomeError } from "../../core/report/report.ts";
import { kindOf } from "../../kinds/index.ts";
import { locateField } from "../../manifests/read-manifests.ts";
import type { SourceHead, SourceManifest } from "../../manifests/source-manifest.ts";
import type { LivePlan } from "../plan.ts";
import { rollout } from "../rollout.ts";
import { announceLongWait } from "./announce-long-wait.ts";
import type { Recovered } from "./recover.ts";
import { schedule, type Task } from "./schedule.ts";
import {
  dependencyEnd,
  type ExistedBefore,
  NOT_STARTED,
  type StepEnd,
  skippedEnd,
  unwrittenEnd,
  writtenEnd,
} from "./step-end.ts";
import { settleEarlierStages, settleStage, uploadVersion } from "./upload-version.ts";
import { isCreatedSince } from "./verify-write.ts";
import { write } from "./write.ts";
import {
  failedWrite,
  LEDGER_UNWRITABLE,
  readBack,
  receiptOfJob,
  type WriteJob,
  type WriteResult,
  type Writing,
} from "./write-job.ts";

/** The ends of all declared steps, and the ids of earlier runs' intents whose requests were sent again. */
export type AppliedSteps = { readonly ends: readonly StepEnd[]; readonly resumed: ReadonlySet<string> };

/** The steps of one apply, and what they share. */
type Steps = {
  readonly planned: LivePlan;
  readonly manifests: ReadonlyMap<Identity, SourceManifest>;
  readonly recovered: ReadonlyMap<Identity, readonly Recovered[]>;
  readonly writing: Writing;
  /** Limits uploads. */
  readonly uploads: PQueue;
  /** Why no further writes are sent; null while they are. */
  readonly stopReason: () => OutcomeError | null;
};

/** How the steps are written, and why no further one may be; null while writes are allowed. */
type WritingSteps = Omit<Writing, "queue"> & { readonly refusal: () => WriteRefusal | null };

// While some steps have a request in flight, as many others are journaled or have their outcomes stored.
const STEPS_PER_REQUEST = 2;

const UPLOADS = 2;

/** Runs the steps that write, each once its dependencies are done, and follows their rollouts. */
export async function applySteps(
  planned: LivePlan,
  recovered: readonly Recovered[],
  writing: WritingSteps,
): Promise<AppliedSteps> {
  const { plan, decisions } = planned;
  const { run, rules } = writing;
  const steps = stepsOf(planned, recovered, writing);
  const { manifests, stopReason } = steps;
  const declared = plan.steps.filter(({ action }) => action !== "orphan");
  const acting = declared.filter(writes);
  const followed: Promise<StepEnd>[] = [];
  const resumed = new Set<string>();
  let rollouts = 0;
  if (acting.length > 0) run.emit({ what: "begun", steps: acting.length });
  await endEarlierStages(acting, steps);
  const tasks = acting.map(
    (step): Task<StepEnd> => ({
      identity: step.identity,
      after: manifests.get(step.identity)?.references.map(({ identity }) => identity) ?? [],
      run: async (state) => {
        const stop = stopReason();
        if (stop !== null) return skippedEnd(step, stop);
        if (state.is === "blocked") return dependencyEnd(step, state.by);
        if (state.is === "stopped") return skippedEnd(step, NOT_STARTED);
        run.emit({ what: "started", step });
        const existedBefore = existedBeforeWrite(step.identity, steps);
        const written = await writeStep(step, steps);
        for (const intent of written.resumed) resumed.add(intent);
        const end = writtenEnd(step, written.result, { existedBefore, stop: stopReason() });
        steps.writing.queue.onResult(written.result);
        rollouts += 1;
        const ending = followStep(step, written.result, end, steps);
        followed.push(
          ending.finally(() => {
            rollouts -= 1;
          }),
        );
        return end;
      },
    }),
  );
  const results = await schedule(tasks, {
    concurrency: STEPS_PER_REQUEST * rules.concurrency,
    isGood: ({ outcome: { result } }) => isSuccess(result),
    isStopped: steps.writing.queue.isStopped,
  });
  const text = (): string | null => (rollouts === 0 ? null : `${rollouts} rollout${rollouts === 1 ? "" : "s"}`);
  const until = run.clock.now() + rules.rolloutTimeoutMs;
  const ends = await announceLongWait(Promise.all(followed), { text, until }, run);
  const rolledOut = new Map(ends.map((one) => [one.outcome.identity, one]));
  const all = declared.map(
    (step) =>
      rolledOut.get(step.identity) ?? results.get(step.identity) ?? unwrittenEnd(step, decisions.get(step.identity)),
  );
  return { ends: all, resumed };
}

// Not those of steps that write, which continue them, and of what this pass does not look at or cannot read.
async function endEarlierStages(acting: readonly Step[], { planned, writing }: Steps): Promise<void> {
  const { desired, plan, observation } = planned;
  const continued = new Set(acting.map(({ identity }) => identity));
  const blocked = new Set(plan.steps.flatMap(({ action, identity }) => (action === "block" ? [identity] : [])));
  const looked = new Set(desired.manifests.map(({ identity }) => identity));
  const isOver = (identity: Identity): boolean => {
    if (continued.has(identity) || blocked.has(identity)) return false;
    return desired.declared.has(identity) ? looked.has(identity) : desired.isWhole;
  };
  const liveManifest = (identity: Identity) => {
    const live = observation.live.get(identity);
    return live?.state === "present" ? live.row.manifest : null;
  };
  await settleEarlierStages(isOver, liveManifest, writing);
}

function stepsOf(planned: LivePlan, recovered: readonly Recovered[], { refusal, ...writing }: WritingSteps): Steps {
  const { run, rules } = writing;
  const requests = new PQueue({ concurrency: rules.concurrency });
  let stop: OutcomeError | null = null;
  const refused = (): OutcomeError | null => {
    const found = refusal();
    return found === null ? null : writeRefusedOutcome(found);
  };
  const stopReason = (): OutcomeError | null => stop ?? interruptedStop(run.stopping) ?? refused();
  const queue: Writing["queue"] = {
    withRequestSlot: (work) => requests.add(work),
    isStopped: () => stopReason() !== null,
    onResult: (written) => {
      stop ??= stopAfter(written, rules);
    },
  };
  return {
    planned,
    manifests: new Map(planned.desired.manifests.map((manifest) => [manifest.identity, manifest])),
    recovered: Map.groupBy(recovered, ({ intent }) => intent.identity),
    writing: { ...writing, queue },
    uploads: new PQueue({ concurrency: UPLOADS }),
    stopReason,
  };
}

// Where neither the ledger nor a dry run shows it, the creation time by the control plane's clock does.
function existedBeforeWrite(identity: Identity, { planned, writing: { run, session } }: Steps): ExistedBefore {
  const known = planned.observation.live.get(identity);
  const at = run.clock.now();
  return (row) => {
    if (planned.recorded.has(identity) || (known?.state === "unknown" && known.exists === true)) return true;
    const serverNow = session.serverTime();
    const times = { now: run.clock.now(), serverNow };
    return row.createdAt !== undefined && serverNow !== null && !isCreatedSince(at, row, times);
  };
}

type WrittenStep = { readonly result: WriteResult; readonly resumed: readonly string[] };

async function writeStep(step: Step, steps: Steps): Promise<WrittenStep> {
  const { planned, manifests, recovered, writing } = steps;
  const { identity } = step;
  const [declared, kind, decision] = [manifests.get(identity), kindOf(step.kind), planned.decisions.get(identity)];
  if (declared === undefined || kind === undefined || decision === undefined)
    throw new TypeError(`no manifest for ${identity}`);
  const manifest = requireRead(declared);
  const before = planned.observation.live.get(identity) ?? { state: "unknown", reason: "no-read" };
  const { ignored } = decision;
  const toSend = manifestToSend(kind, manifest, before, decision);
  const recorded = planned.recorded.get(identity) ?? null;
  const job: WriteJob = { kind, manifest, live: before, toSend, ignored, recorded };
  const live = await liveNow(job, writing);
  const same = live.state === "present" && step.action === "ensure" && hasContentOf(kind, toSend, live.row.manifest);
  if (same) {
    await writing.session.ledger.record([receiptOfJob(job, live.row, writing.run.clock.now())]);
    return { result: { state: "kept" }, resumed: [] };
  }
  if (kind.issuesToken?.(manifest.value) && step.action !== "update") {
    const message = await sinkTrouble(identity, writing);
    const error = message === null ? null : { code: "token-sink", message };
    if (error !== null) return { result: failedWrite("failed", error, { job, attempts: 0 }), resumed: [] };
  }
  const open = recovered.get(identity) ?? [];
  const { upload } = kind;
  if (upload === undefined || upload.path(toSend) === null) return write({ ...job, live }, open, writing);
  return writeUploaded({ ...job, live }, upload, open, steps);
}

// Files are uploaded before the version is registered, a few at a time, since that can take hours.
async function writeUploaded(
  job: WriteJob,
  upload: FileUpload,
  open: readonly Recovered[],
  { planned, uploads, writing }: Steps,
): Promise<WrittenStep> {
  const files = planned.files.get(job.manifest.identity);
  if (files === undefined) throw new TypeError(`the files of ${job.manifest.identity} were not read`);
  const uploaded = await uploads.add(() => uploadVersion(job, upload, files, writing));
  if (uploaded.state === "ended") return { result: uploaded.result, resumed: [] };
  const { version } = uploaded;
  const written = await write({ ...job, toSend: version.toSend }, open, writing);
  await settleStage(version, written.result, writing);
  return written;
}

async function sinkTrouble(identity: Identity, { session: { sink } }: Writing): Promise<string | null> {
  try {
    await sink?.check(identity);
    return null;
  } catch (error) {
    return `nothing was sent, since its one-time token could not be stored: ${errorMessage(error)}`;
  }
}

// A resource whose references were missing can often be read once they exist. For a kind with a one-time token
// it must be known whether the resource is new.
async function liveNow(job: WriteJob, writing: Writing): Promise<Live> {
  const { live, kind } = job;
  if (live.state !== "unknown" || (kind.single === undefined && !kind.issuesToken?.(job.toSend))) return live;
  return writing.queue
    .withRequestSlot(() => readBack(job, writing))
    .catch((error: unknown) => {
      if (error instanceof ClientError) return live;
      throw error;
    });
}

// Rollouts are followed outside the queue, so that waiting takes no slot from writes.
async function followStep(
  step: Step,
  written: WriteResult,
  end: StepEnd,
  { manifests, writing: { session, rules, run } }: Steps,
): Promise<StepEnd> {
  const ended = await rollout(step, written, { reader: session.reader, rules, run });
  const outcome = { ...end.outcome, ...ended };
  const place = outcome.error === null ? null : await locateOutcome(outcome, manifests, run);
  run.emit({ what: "finished", step, outcome, place });
  return { ...end, outcome };
}

/** Why no further writes are sent after this one; null when others may still succeed. */
function stopAfter(written: WriteResult, { failFast }: { readonly failFast: boolean }): OutcomeError | null {
  if (written.state === "done") return written.notice?.code === OTHER_WRITER ? stopped(otherWriter) : null;
  if (written.state !== "failed" && written.state !== "unknown") return null;
  const { status, code } = written.error;
  // Every further write would be refused too, or could not be recorded.
  if (status === 401) return stopped("the control plane has refused the token");
  if (status === 412) return stopped("the lease was lost");
  if (code === LEDGER_UNWRITABLE) return stopped("the ledger cannot be written");
  if (code === OTHER_WRITER) return stopped(otherWriter);
  return failFast ? stopped("another step has failed, and --fail-fast ends the apply there") : null;
}

const otherWriter = "another writer is at work";

/** Why no further writes are sent after a stop request; null before one. */
function interruptedStop({ aborted, reason }: AbortSignal): OutcomeError | null {
  if (!aborted) return null;
  return stopped(reason instanceof HoldfastError ? reason.message : "the run was asked to end");
}

function stopped(why: string): OutcomeError {
  return { code: "stopped", message: `not sent: ${why}` };
}

/** The place of an outcome's error in the source (`file:line:column`), as exact as its pointer; null when unknown. */
export async function locateOutcome(
  { identity, error }: Outcome,
  manifests: ReadonlyMap<Identity, SourceHead>,
  stop: Stop,
): Promise<string | null> {
  const manifest = error === null ? undefined : manifests.get(identity);
  if (manifest === undefined) return null;
  const { file, line, column } = await locateField({ manifest, pointer: error?.pointer || null }, stop);
  return `${file}:${line}:${column}`;
}
