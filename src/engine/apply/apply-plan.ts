import PQueue from "p-queue";
import { ClientError } from "../../client/client-error.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { isObject, type JsonObject } from "../../contract/json.ts";
import type { Decision } from "../../core/decide/decision.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import { keepIgnored } from "../../core/ignore/keep-ignored.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, type Manifest, requireRead } from "../../core/manifest.ts";
import { type Step, writes } from "../../core/plan/plan.ts";
import type { PlanWithDecisions } from "../../core/plan/plan-input.ts";
import { equalRecorded, isRecordOf, type Recorded, type RecordedHead, requireOpened } from "../../core/recorded.ts";
import type { ProgressEvent } from "../../core/report/events.ts";
import { type ApplyReport, isSuccess, type OutcomeError, summariseOutcomes } from "../../core/report/report.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { kindOf } from "../../kinds/index.ts";
import type { SourceHead } from "../../manifests/source-manifest.ts";
import { isStorageError } from "../../state/is-storage-error.ts";
import { announceLongWait } from "../announce-long-wait.ts";
import { isCreatedSince } from "../observe/created-since.ts";
import { rolloutOf } from "../rollout.ts";
import { locateOutcome } from "./locate-outcome.ts";
import { createReceipt } from "./receipt.ts";
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
import { interruptedStop, LEDGER_UNWRITABLE, stopAfter } from "./stop-conditions.ts";
import { hasContentOf } from "./verify-write.ts";
import { write } from "./write.ts";
import { failedWrite, receiptOfJob, type WriteContext, type WriteJob, type WriteResult } from "./write-job.ts";

const NO_FURTHER_WRITES = "no further writes are sent; the next run reads live to resolve this one";

/** The context for applying a plan. */
export type ApplyContext = Omit<WriteContext, "withRequestSlot" | "isStopped" | "onResult" | "onWait"> & {
  readonly manifests: ReadonlyMap<Identity, SourceHead>;
  readonly live: ReadonlyMap<Identity, Live>;
  readonly recorded: ReadonlyMap<Identity, RecordedHead>;
  readonly concurrency: number;
  /** Follow rollouts to their end. */
  readonly wait: boolean;
  readonly failFast: boolean;
  /** Whether to record resources that are equal and not yet recorded. @default true */
  readonly recordsEqual?: boolean;
  readonly onProgress: (progress: ProgressEvent) => void;
  /** Called with work that continues after the apply: rollouts that it does not wait for. */
  readonly onLeft: (work: Promise<void>) => void;
};

/** An apply's report, with the locations of its one-time tokens. */
export type ApplyResult = ApplyReport & {
  readonly tokens: readonly { readonly identity: Identity; readonly location: string }[];
};

/** A running apply, which the results of its steps can stop. */
type Running = ApplyContext &
  WriteContext & {
    readonly rollouts: { open: number };
    /** Why no further writes are sent; null while they are. */
    readonly stopReason: () => OutcomeError | null;
  };

// While some steps have a request in flight, as many others are journaled or have their outcomes stored.
const STEPS_PER_REQUEST = 2;

/** Applies a plan: each step runs once its dependencies are done. The report lists every outcome. */
export async function applyPlan({ plan, decisions }: PlanWithDecisions, applying: ApplyContext): Promise<ApplyResult> {
  const context = running(applying);
  if (context.recordsEqual ?? true) await recordEqual(plan.steps, decisions, context);
  const declared = plan.steps.filter(({ action }) => action !== "orphan");
  const acting = declared.filter(writes);
  const followed: Promise<StepEnd>[] = [];
  if (acting.length > 0) context.onProgress({ what: "begun", steps: acting.length });
  const tasks = acting.map(
    (step): Task<StepEnd> => ({
      identity: step.identity,
      after: context.manifests.get(step.identity)?.references.map(({ identity }) => identity) ?? [],
      run: async (state) => {
        const stop = context.stopReason();
        if (stop !== null) return skippedEnd(step, stop);
        if (state.is === "blocked") return dependencyEnd(step, state.by);
        if (state.is === "stopped") return skippedEnd(step, NOT_STARTED);
        context.onProgress({ what: "started", step });
        const existedBefore = existedBeforeWrite(step.identity, context);
        const written = await writeStep(step, decisions.get(step.identity), context);
        const end = writtenEnd(step, written, { existedBefore, stop: context.stopReason() });
        context.onResult(written);
        followed.push(followStepRollout(step, written, end, context));
        return end;
      },
    }),
  );
  const results = await schedule(tasks, {
    concurrency: STEPS_PER_REQUEST * context.concurrency,
    isGood: ({ outcome: { result } }) => isSuccess(result),
    isStopped: context.isStopped,
  });
  const until = context.clock.now() + context.rolloutTimeoutMs;
  const report = (): void => {
    if (context.rollouts.open > 0)
      context.onWait(`${context.rollouts.open} rollout${context.rollouts.open === 1 ? "" : "s"}`, until);
  };
  const ends = await announceLongWait(Promise.all(followed), report, context);
  const rolledOut = new Map(ends.map((one) => [one.outcome.identity, one]));
  const all = declared.map(
    (step) =>
      rolledOut.get(step.identity) ?? results.get(step.identity) ?? unwrittenEnd(step, decisions.get(step.identity)),
  );
  const outcomes = all.map(({ outcome }) => outcome);
  return {
    format_version: FORMAT_VERSION,
    revision: plan.revision,
    server: plan.server,
    summary: summariseOutcomes(outcomes),
    outcomes,
    diagnostics: plan.diagnostics,
    tokens: all.flatMap(({ outcome: { identity }, token }) => (token === null ? [] : [{ identity, location: token }])),
  };
}

// Where neither the ledger nor a dry run shows it, the creation time by the control plane's clock does.
function existedBeforeWrite(identity: Identity, { recorded, live, clock, serverTime }: Running): ExistedBefore {
  const known = live.get(identity);
  const at = clock.now();
  return (row) => {
    if (recorded.has(identity) || (known?.state === "unknown" && known.exists === true)) return true;
    return row.createdAt !== undefined && serverTime() !== null && !isCreatedSince({ at }, row, { clock, serverTime });
  };
}

function running(context: ApplyContext): Running {
  const requests = new PQueue({ concurrency: context.concurrency });
  let stop: OutcomeError | null = null;
  const stopReason = (): OutcomeError | null => stop ?? interruptedStop(context.stopping);
  return {
    ...context,
    withRequestSlot: (work) => requests.add(work),
    rollouts: { open: 0 },
    stopReason,
    isStopped: () => stopReason() !== null,
    onResult: (written) => {
      stop ??= stopAfter(written, context);
    },
    onWait: (what, until) =>
      context.onProgress({ what: "waiting", text: `${what}, until ${timestampText(until)} at the latest` }),
  };
}

// Recording equal resources makes later drift distinguishable from a later change of the manifest.
async function recordEqual(
  steps: readonly Step[],
  decisions: PlanWithDecisions["decisions"],
  context: ApplyContext,
): Promise<void> {
  const receipts = steps.flatMap(({ action, identity, kind: type }): Recorded[] => {
    const [manifest, live, head] = [
      context.manifests.get(identity),
      context.live.get(identity),
      context.recorded.get(identity),
    ];
    if (action !== "keep" || manifest === undefined || live?.state !== "present") return [];
    const { row } = live;
    const known = head === undefined ? null : requireOpened(head);
    if (known !== null && isRecordOf(known, requireRead(manifest).value, row.manifest)) return [];
    const kind = kindOf(type);
    if (kind === undefined) return [];
    const ignored = decisions.get(identity)?.ignored ?? [];
    const sent = { kind, identity, written: requireRead(manifest).value, ignored };
    const receipt = createReceipt(sent, row, { known, at: context.clock.now() });
    return known !== null && equalRecorded(known, receipt) ? [] : [receipt];
  });
  if (receipts.length > 0) await context.ledger.record(receipts);
}

async function writeStep(step: Step, decision: Decision | undefined, context: Running): Promise<WriteResult> {
  const declared = context.manifests.get(step.identity);
  const kind = kindOf(step.kind);
  if (declared === undefined || kind === undefined || decision === undefined)
    throw new TypeError(`no manifest for ${step.identity}`);
  const manifest = requireRead(declared);
  const planned = context.live.get(step.identity) ?? { state: "unknown", reason: "no-read" };
  const { ignored } = decision;
  const head = ignored.length === 0 ? undefined : context.recorded.get(step.identity);
  const recorded = head === undefined ? null : requireOpened(head);
  const toSend = manifestToSend(kind, manifest, planned, decision);
  const job: WriteJob = { kind, manifest, live: planned, toSend, ignored, recorded };
  const live = await liveNow(job, context);
  const same =
    live.state === "present" && step.action === "ensure" && hasContentOf(kind, job.toSend, live.row.manifest);
  if (same) return recordAsKept({ ...job, live }, live.row, context);
  if (kind.issuesToken?.(manifest.value) && step.action !== "update") {
    const trouble = await sinkTrouble(step.identity, context);
    if (trouble !== null) return failedWrite("failed", { code: "token-sink", message: trouble }, { job, attempts: 0 });
  }
  return write({ ...job, live }, context).catch((error: unknown) => {
    if (!isStorageError(error)) throw error;
    const message = `the ledger cannot be written (${errorMessage(error)}): ${NO_FURTHER_WRITES}`;
    return failedWrite("unknown", { code: LEDGER_UNWRITABLE, message }, { job, attempts: 1 });
  });
}

async function sinkTrouble(identity: Identity, { sink }: ApplyContext): Promise<string | null> {
  try {
    await sink?.check(identity);
    return null;
  } catch (error) {
    return `nothing was sent, since its one-time token could not be stored: ${errorMessage(error)}`;
  }
}

// A resource whose references were missing can often be read once they exist. For a kind with a one-time token
// it must be known whether the resource is new.
async function liveNow(job: WriteJob, context: Running): Promise<Live> {
  const { live, kind } = job;
  if (live.state !== "unknown" || (kind.single === undefined && !kind.issuesToken?.(job.toSend))) return live;
  return context
    .withRequestSlot(() => context.readBack(job))
    .catch((error: unknown) => {
      if (error instanceof ClientError) return live;
      throw error;
    });
}

async function recordAsKept(job: WriteJob, row: LiveRow, context: Running): Promise<WriteResult> {
  await context.ledger.record([receiptOfJob(job, row, context)]);
  return { state: "kept" };
}

function manifestToSend({ shape }: Kind, { value }: Manifest, live: Live, { ignored }: Decision): JsonObject {
  if (live.state !== "present" || ignored.length === 0) return value;
  const kept = keepIgnored(shape, value, live.row.manifest, ignored);
  return isObject(kept) ? kept : value;
}

// Rollouts are followed outside the queue, so that waiting takes no slot from writes.
async function followStepRollout(step: Step, written: WriteResult, end: StepEnd, context: Running): Promise<StepEnd> {
  const rollout = await rolloutOf(step, written, context);
  const outcome = { ...end.outcome, rollout };
  const place = outcome.error === null ? null : await locateOutcome(outcome, context.manifests, context);
  context.onProgress({ what: "finished", step, outcome, place });
  return { ...end, outcome };
}
