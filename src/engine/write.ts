import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Doubt } from "../client/call.ts";
import { ClientError } from "../client/failure.ts";
import { causeText } from "../client/reach.ts";
import type { Reader } from "../client/reader.ts";
import type { Sent, Writer } from "../client/writer.ts";
import { isObject, type JsonObject } from "../contract/json.ts";
import { operations } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import type { Shape } from "../contract/shape.ts";
import { type Kind, type LiveRow, readRow, type Writing } from "../core/kind.ts";
import type { Live } from "../core/live.ts";
import type { Manifest } from "../core/manifest.ts";
import type { Reason } from "../core/plan.ts";
import type { Recorded } from "../core/recorded.ts";
import type { OutcomeError } from "../core/report.ts";
import { chooseWriting } from "../core/server.ts";
import { judge } from "./judge.ts";
import type { Intent, Ledger } from "./ledger.ts";
import type { ServerMemory } from "./memory.ts";
import { deploymentInProgress, followRollout } from "./rollout.ts";
import type { Sink } from "./sink.ts";

/** What writing needs of its surroundings. */
export type WritingContext = {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly ledger: Ledger;
  readonly memory: ServerMemory;
  readonly sink: Sink | null;
  readonly requestTimeoutMs: number;
  readonly rolloutTimeoutMs: number;
  /** Reads live of the resource again. */
  readonly readBack: (job: Job) => Promise<Live>;
  readonly now: () => number;
  /** Asked to end: nothing new is started, what is in flight is finished. */
  readonly stopping: AbortSignal;
  /** Ends what is in flight too. */
  readonly signal: AbortSignal;
};

/** One resource to write. */
export type Job = {
  readonly kind: Kind;
  readonly shape: Shape;
  readonly manifest: Manifest;
  /** The manifest to send: as declared, with ignored fields as live has them. */
  readonly body: JsonObject;
  readonly live: Live;
};

/** What became of a write. */
export type Written =
  | {
      readonly state: "done";
      readonly row: LiveRow | null;
      readonly delivered: string | null;
      readonly attempts: number;
    }
  /** Live turned out to be as wanted: nothing was sent. */
  | { readonly state: "kept" }
  | { readonly state: "blocked"; readonly reason: Reason; readonly attempts: number }
  | { readonly state: "failed" | "unknown"; readonly error: OutcomeError; readonly attempts: number };

/** How often a write is sent again: after a deployment in progress, or a read-back that found nothing. */
const ROUNDS = 3;

/** Writes one resource: journal, send, and where the outcome is in doubt read back before anything is sent again. */
export async function write(job: Job, context: WritingContext): Promise<Written> {
  let last: Written = failed("not-sent", "nothing was sent", 0);
  for (let attempts = 1; attempts <= ROUNDS; attempts += 1) {
    const current = attempts === 1 ? job : { ...job, live: await readBack(job, context) };
    const writing = chooseWriting(job.kind, current.live, context.memory);
    if (writing === null) return { state: "blocked", reason: reasonFor(job, context), attempts: attempts - 1 };
    const next = await attempt(current, writing, context, attempts);
    if (next.state !== "again" || context.stopping.aborted) return next.state === "again" ? next.otherwise : next;
    last = next.otherwise;
  }
  return last;
}

type Again = { readonly state: "again"; readonly otherwise: Written };

async function attempt(
  job: Job,
  writing: Writing,
  context: WritingContext,
  attempts: number,
): Promise<Written | Again> {
  const { ledger, writer, signal } = context;
  const intent = intentOf(job, writing, context);
  const issuesToken = operations[writing.operation].retry === "token";
  await ledger.open(intent);
  const sent = await writer.send(
    writing.operation,
    {
      body: { manifest: job.body },
      ...(issuesToken ? { onReply: (reply: Uint8Array) => ledger.keepReply(intent.id, reply) } : {}),
    },
    { signal },
  );
  switch (sent.state) {
    case "applied":
      return applied(job, writing, context, intent, sent, attempts);
    case "refused":
      return refused(job, writing, context, intent, sent, attempts);
    case "not-sent":
      await ledger.close(intent.id, null);
      return failed(sent.reason, `nothing was sent: ${causeText(sent.cause)}`, attempts);
    case "ambiguous":
      return inDoubt(
        job,
        context,
        intent,
        { reason: doubtText[sent.reason], answered: isAnswered(sent.reason) },
        attempts,
      );
  }
}

function intentOf({ kind, manifest, body, live }: Job, writing: Writing, context: WritingContext): Intent {
  const present = live.state === "present" ? (live.row.version ?? null) : null;
  const newest = live.state === "absent" ? (live.newest ?? null) : null;
  return {
    id: randomUUID(),
    identity: manifest.identity,
    kind: kind.type,
    operation: writing.operation,
    written: body,
    versionBefore: present ?? newest,
    creates: live.state === "absent",
    deadline: context.now() + context.requestTimeoutMs,
  };
}

async function applied(
  job: Job,
  writing: Writing,
  context: WritingContext,
  intent: Intent,
  sent: Extract<Sent, { state: "applied" }>,
  attempts: number,
): Promise<Written | Again> {
  const row = rowIn(writing, sent.data);
  // Operation 5 answers an empty object, which tells nothing of the effect.
  if (row === null || row.key !== job.kind.key(job.body)) {
    return inDoubt(job, context, intent, { reason: "the reply does not carry the resource", answered: true }, attempts);
  }
  const delivered = sent.token === null ? null : await deliver(job, context, sent.token);
  await context.ledger.close(intent.id, receiptOf(job, row, context));
  return { state: "done", row, delivered, attempts };
}

function rowIn(writing: Writing, data: unknown): LiveRow | null {
  try {
    return isObject(data) ? readRow(writing, data) : null;
  } catch {
    return null;
  }
}

async function deliver({ manifest }: Job, { sink }: WritingContext, token: Secret): Promise<string | null> {
  return sink === null ? null : sink.deliver(manifest.identity, token);
}

async function refused(
  job: Job,
  _writing: Writing,
  context: WritingContext,
  intent: Intent,
  sent: Extract<Sent, { state: "refused" }>,
  attempts: number,
): Promise<Written | Again> {
  await context.ledger.close(intent.id, null);
  const [detail] = sent.details;
  const otherwise = failedWith(
    {
      code: sent.code ?? sent.reason,
      message: sent.message || `answered ${sent.status}`,
      status: sent.status,
      ...(detail === undefined ? {} : { pointer: detail.pointer }),
    },
    attempts,
  );
  if (sent.reason === "route-missing") return { state: "again", otherwise };
  if (sent.status === 409 && job.kind.rollsOut && (await waitForRollout(job, context)))
    return { state: "again", otherwise };
  return otherwise;
}

/** Waits until the application's rollout in progress has ended; false when there is none, or it does not end. */
async function waitForRollout({ live }: Job, context: WritingContext): Promise<boolean> {
  const { reader, rolloutTimeoutMs: timeoutMs, stopping: signal } = context;
  const applicationId = live.state === "present" ? live.row.id : null;
  if (applicationId === null) return false;
  try {
    const running = await deploymentInProgress(reader, applicationId, { signal });
    if (!running?.id) return false;
    const rollout = { applicationId, deploymentId: running.id };
    return (await followRollout(reader, rollout, { timeoutMs, signal })) !== "timeout";
  } catch (error) {
    if (signal.aborted || error instanceof ClientError) return false;
    throw error;
  }
}

// Read back now, and where nothing is found once more when the request can no longer arrive: only then is it sent again.
async function inDoubt(
  job: Job,
  context: WritingContext,
  intent: Intent,
  doubt: { readonly reason: string; readonly answered: boolean },
  attempts: number,
): Promise<Written | Again> {
  const otherwise: Written = {
    state: "unknown",
    error: {
      code: "outcome-unknown",
      message: `${doubt.reason}; whether the write took effect could not be found out`,
    },
    attempts,
  };
  for (const isLast of [false, true]) {
    if (isLast) await rest(Math.max(0, intent.deadline - context.now()), context);
    if (context.signal.aborted || (isLast && context.stopping.aborted)) return otherwise;
    const verdict = judge(job.kind, job.shape, intent, await readBack(job, context));
    if (verdict.effect === "unreadable") return otherwise;
    if (verdict.effect === "there") return found(job, context, intent, verdict.row, attempts);
    if (doubt.answered && intent.operation === "postModelVersion") return discarded(context, intent, attempts);
  }
  await context.ledger.close(intent.id, null);
  return { state: "again", otherwise };
}

// Being asked to end cuts the rest short; whoever rested looks at the signal afterwards.
async function rest(ms: number, { stopping }: WritingContext): Promise<void> {
  await wait(ms, undefined, { signal: stopping }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}

async function readBack(job: Job, context: WritingContext): Promise<Live> {
  try {
    return await context.readBack(job);
  } catch (error) {
    if (!(error instanceof ClientError) && !context.signal.aborted) throw error;
    return { state: "unknown", reason: "unreadable" };
  }
}

async function found(
  job: Job,
  context: WritingContext,
  intent: Intent,
  row: LiveRow,
  attempts: number,
): Promise<Written> {
  if (intent.operation === "postModelVersion") context.memory.seenRegistering = true;
  await context.ledger.close(intent.id, receiptOf(job, row, context));
  if (!job.kind.issuesToken?.(job.body) || !intent.creates) return { state: "done", row, delivered: null, attempts };
  return {
    state: "unknown",
    error: {
      code: "token-unrecovered",
      message: `${job.manifest.identity} was created, but the reply with its one-time token was lost: use a new account name, or give it a secret_store_config`,
    },
    attempts,
  };
}

async function discarded(context: WritingContext, intent: Intent, attempts: number): Promise<Written> {
  context.memory.seenRegistering = false;
  await context.ledger.close(intent.id, null);
  return failed(
    "not-registered",
    "operation 5 answered, but operation 13 does not show the version: this control plane does not register versions with it",
    attempts,
  );
}

/** The receipt of a write, from the row that the server answered or showed. */
export function receiptOf({ kind, manifest, body }: Job, row: LiveRow, { now }: Pick<WritingContext, "now">): Recorded {
  return {
    identity: manifest.identity,
    kind: kind.type,
    id: row.id,
    written: body,
    echo: row.manifest,
    version: row.version ?? null,
    at: now(),
  };
}

function reasonFor({ kind }: Job, { memory }: WritingContext): Reason {
  return kind.write.some(({ operation, caution }) => caution !== undefined && memory.has(operation))
    ? "model-version-write"
    : "read-only";
}

const doubtText: { readonly [doubt in Doubt]: string } = {
  timeout: "no reply came in time",
  "connection-lost": "the connection broke before the reply was read",
  aborted: "it was interrupted before the reply was read",
  "server-error": "the control plane answered with a server error",
  redirect: "the reply was a redirect, which is never followed",
  oversize: "the reply was too large to be read",
  malformed: "the reply was cut short",
  protocol: "the reply is not the documented one",
  "not-kept": "the reply could not be put away safely",
  mismatch: "the reply tells of another resource",
};

// A whole reply came: the request is done with, and will not arrive later.
function isAnswered(doubt: Doubt): boolean {
  return doubt === "protocol" || doubt === "mismatch";
}

function failed(code: string, message: string, attempts: number): Written {
  return failedWith({ code, message }, attempts);
}

function failedWith(error: OutcomeError, attempts: number): Written {
  return { state: "failed", error, attempts };
}
