import { randomUUID } from "node:crypto";
import { ClientError } from "../client/failure.ts";
import { causeText } from "../client/reach.ts";
import type { Sent } from "../client/writer.ts";
import { isObject } from "../contract/json.ts";
import { operations } from "../contract/operations.ts";
import { type LiveRow, readRow, type Writing } from "../core/kind.ts";
import type { Reason } from "../core/plan.ts";
import { chooseWriting } from "../core/server.ts";
import { inDoubt, resolveDoubt, settle } from "./doubt.ts";
import { type Again, type Attempt, ended, type Job, readAgain, type WritingContext, type Written } from "./job.ts";
import type { Intent } from "./ledger.ts";
import { deploymentInProgress, followRollout } from "./rollout.ts";
import { sendIntent } from "./send.ts";
import { tokenIn } from "./token.ts";

/** How often a write is sent again: after a deployment in progress, or a read-back that found nothing. */
const ROUNDS = 3;

/** How long an intent may wait for its turn, in shares of the request's timeout. */
const WAIT_SHARE = 0.1;

/** Writes one resource: journal, send, and where the outcome is in doubt read back before anything is sent again. */
export async function write(job: Job, context: WritingContext): Promise<Written> {
  let last: Written | null = null;
  for (let attempts = 1; attempts <= ROUNDS; attempts += 1) {
    const current = attempts === 1 ? job : { ...job, live: await readAgain(job, context) };
    const writing = chooseWriting(job.kind, current.live, context.memory);
    if (writing === null) return { state: "blocked", reason: reasonFor(job, context), attempts: attempts - 1 };
    const next = await attempt(current, writing, context, attempts);
    if (next.state === "unsent") return last ?? { state: "put-off", attempts: 0 };
    if (next.state !== "again") return next;
    if (context.stopping.aborted) return next.otherwise;
    last = next.otherwise;
  }
  return last ?? ended("failed", { code: "not-sent", message: "nothing was sent" }, { job, attempts: 0 });
}

async function attempt(
  job: Job,
  writing: Writing,
  context: WritingContext,
  attempts: number,
): Promise<Written | Again | Unsent> {
  const early = intentOf(job, writing, context);
  await context.ledger.open(early);
  const next = await context.takeTurn(async (): Promise<Written | Again | Unsent | Applied> => {
    if (context.isStopped()) {
      // Where it cannot be struck out, the next run finds out that it was never sent.
      await context.ledger.close(early.id, null).catch(() => undefined);
      return { state: "unsent" };
    }
    const intent = isInTime(early, context) ? early : await renewed(early, intentOf(job, writing, context), context);
    const sent = await sentOnce({ job, intent, context, attempts });
    if (sent.state === "failed" || sent.state === "unknown") context.onTrouble(sent);
    return sent;
  });
  // Its place is free again: that it becomes durable holds nobody up.
  return next.state === "applied" ? applied(next.one, writing, next.sent) : next;
}

/** The apply was stopped before its turn came. */
type Unsent = { readonly state: "unsent" };

type Applied = {
  readonly state: "applied";
  readonly one: Attempt;
  readonly sent: Extract<Sent, { readonly state: "applied" }>;
};

async function sentOnce(one: Attempt): Promise<Written | Again | Applied> {
  const { job, intent, context } = one;
  const { sent, reply } = await sendIntent(intent, context);
  switch (sent.state) {
    case "applied":
      return { state: "applied", one, sent };
    case "refused":
      return refused(one, sent);
    case "not-sent":
      await context.ledger.close(intent.id, null);
      return ended("failed", { code: sent.reason, message: `nothing was sent: ${causeText(sent.cause)}` }, one);
    case "ambiguous":
      return resolveDoubt(one, inDoubt(sent.reason, reply === null ? null : tokenIn(reply, job.body)));
  }
}

// Whoever finds an intent counts on its deadline, so a request that would end later needs another one.
function isInTime({ deadline }: Intent, { now, requestTimeoutMs }: WritingContext): boolean {
  return now() + requestTimeoutMs <= deadline;
}

async function renewed(early: Intent, intent: Intent, { ledger }: WritingContext): Promise<Intent> {
  await ledger.close(early.id, null);
  await ledger.open(intent);
  return intent;
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
    deadline: Math.ceil(context.now() + context.requestTimeoutMs * (1 + WAIT_SHARE)),
    key: randomUUID(),
  };
}

async function applied(
  one: Attempt,
  writing: Writing,
  sent: Extract<Sent, { state: "applied" }>,
): Promise<Written | Again> {
  const { kind, body } = one.job;
  const row = rowIn(writing, sent.data);
  if (row !== null && row.key === kind.key(body)) return settle(one, row, sent.token);
  // Operation 5 answers an empty object, which tells nothing of the effect.
  const reason = "the reply does not carry the resource";
  return resolveDoubt(one, { reason, answered: true, token: sent.token });
}

function rowIn(writing: Writing, data: unknown): LiveRow | null {
  try {
    return isObject(data) ? readRow(writing, data) : null;
  } catch {
    return null;
  }
}

async function refused(one: Attempt, sent: Extract<Sent, { state: "refused" }>): Promise<Written | Again> {
  const { job, intent, context } = one;
  const { status, code, reason, message } = sent;
  await context.ledger.close(intent.id, null);
  const [detail] = sent.details;
  const pointer = detail === undefined ? {} : { pointer: detail.pointer };
  const { method, path } = operations[intent.operation];
  const error = {
    code: code ?? reason,
    message: message || `${method} ${path} answered ${status}`,
    status,
    ...pointer,
  };
  const otherwise = ended("failed", error, one);
  if (reason === "route-missing") return { state: "again", otherwise };
  if (status !== 409 || !job.kind.rollsOut) return otherwise;
  if (await waitForRollout(job, context)) return { state: "again", otherwise };
  return context.hurry.aborted ? { state: "put-off", attempts: one.attempts } : otherwise;
}

/** Waits until the application's rollout in progress has ended; false when it does not end, or cannot be followed. */
async function waitForRollout({ live }: Job, context: WritingContext): Promise<boolean> {
  const { reader, rolloutTimeoutMs: timeoutMs, stopping, hurry } = context;
  const signal = AbortSignal.any([stopping, hurry]);
  const applicationId = live.state === "present" ? live.row.id : null;
  if (applicationId === null) return false;
  try {
    const running = await deploymentInProgress(reader, applicationId, { signal });
    // It has ended since the refusal; were the conflict another one, the next tries would tell.
    if (!running?.id) return true;
    const rollout = { applicationId, deploymentId: running.id };
    return (await followRollout(reader, rollout, { timeoutMs, signal })) !== "timeout";
  } catch (error) {
    if (signal.aborted || error instanceof ClientError) return false;
    throw error;
  }
}

function reasonFor({ kind }: Job, { memory }: WritingContext): Reason {
  return kind.write.some(({ operation, caution }) => caution !== undefined && memory.has(operation))
    ? "model-version-write"
    : "read-only";
}
