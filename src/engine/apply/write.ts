import { causeText } from "../../client/reachability.ts";
import type { Sent } from "../../client/writer.ts";
import { equal } from "../../contract/json.ts";
import { operations } from "../../contract/operations.ts";
import { chooseWriteOperation } from "../../core/decide/choose-write-operation.ts";
import { type LiveRow, tryReadRow, type WriteRoute } from "../../core/kind.ts";
import type { Reason } from "../../core/plan/plan.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import type { Intent } from "../../state/ledger.ts";
import { findOtherWriter, isUnprotected, versionBefore } from "./concurrent-write.ts";
import type { Recovered } from "./recover.ts";
import { ambiguousWrite, resolveAmbiguous, settleWrite } from "./resolve-ambiguous.ts";
import { sendIntent } from "./send-intent.ts";
import { settleRefused } from "./settle-refused.ts";
import { tokenIn } from "./stored-reply.ts";
import { verifyWrite } from "./verify-write.ts";
import {
  failedWrite,
  type RetryWrite,
  rereadLive,
  type WriteContext,
  type WriteJob,
  type WriteRequest,
  type WriteResult,
} from "./write-job.ts";

/** How often a write is sent at most: again after a deployment in progress, or a read-back that shows no effect. */
const MAX_ATTEMPTS = 3;

/** How long an intent may wait for a request slot, as a share of the request timeout. */
const WAIT_SHARE = 0.1;

/** Writes one resource: journals the intent, sends it, and after an ambiguous outcome reads live before sending again. */
export async function write(job: WriteJob, context: WriteContext): Promise<WriteResult> {
  let last: WriteResult | null = null;
  let earlier: readonly EarlierWrite[] = (context.recovered.get(job.manifest.identity) ?? []).filter(
    ({ effect }) => effect !== "applied",
  );
  for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts += 1) {
    const current = attempts === 1 ? job : { ...job, live: await rereadLive(job, context) };
    const route = chooseWriteOperation(job.kind, current.live, context.serverFacts);
    if (route === null) return { state: "blocked", reason: reasonFor(job, context), attempts: attempts - 1 };
    const next = await journalAndSend({ job: current, route, context, attempts, earlier });
    if (next.state === "unsent") return last ?? { state: "deferred", attempts: 0 };
    if (next.state !== "retry") return next;
    if (context.stopping.aborted) return next.otherwise;
    last = next.otherwise;
    earlier = next.open === null ? [] : [{ intent: next.open, isOpen: false }];
  }
  return last ?? failedWrite("failed", { code: "not-sent", message: "nothing was sent" }, { job, attempts: 0 });
}

/** An earlier intent of the same resource in the journal; an open one must not be replaced by a different request. */
type EarlierWrite = Pick<Recovered, "isOpen"> & { readonly intent: Intent };

type WriteRound = {
  readonly job: WriteJob;
  readonly route: WriteRoute;
  readonly context: WriteContext;
  readonly attempts: number;
  readonly earlier: readonly EarlierWrite[];
};

async function journalAndSend({
  job,
  route,
  context,
  attempts,
  earlier,
}: WriteRound): Promise<WriteResult | RetryWrite | Unsent> {
  const newIntent = intentOf(job, route, context);
  const repeated = earlier.find(({ intent }) => isSameRequest(intent, newIntent)) ?? null;
  const journaled = repeated === null ? newIntent : repeatOf(repeated.intent, newIntent);
  const replaced = earlier.filter((one) => one === repeated || !one.isOpen);
  await context.ledger.begin(
    journaled,
    replaced.map(({ intent }) => intent.id),
  );
  const isRepeat = repeated !== null;
  if (isRepeat) context.onResumed(repeated.intent.id);
  const next = await context.withRequestSlot(async (): Promise<WriteResult | RetryWrite | Unsent | Applied> => {
    if (context.isStopped()) {
      // If it cannot be closed, the next run determines that it was never sent.
      if (!isRepeat) await context.ledger.close(journaled.id, null).catch(() => undefined);
      return { state: "unsent" };
    }
    if (attempts === 1 && !isRepeat && isUnprotected(job, context)) {
      const other = await findOtherWriter(job, context);
      if (other !== null) return failForOtherWriter(job, journaled, other, context);
    }
    const intent = isInTime(journaled, context) ? journaled : await withLaterDeadline(journaled, context);
    const sent = await sendAndSettle({ job, intent, isRepeat, context, attempts });
    return sent.state === "failed" || sent.state === "unknown" ? reportResult(sent, context) : sent;
  });
  if (next.state !== "applied") return next;
  // The slot is free now, so that storing the outcome delays no other request.
  await nextRequestSent(context);
  return applied(next.request, route, next.sent);
}

// A connection is reused one event loop turn after its reply, and the client checks it for one turn more.
const TURNS_UNTIL_SENT = 3;

// Many replies arrive at once. Storing each outcome immediately would leave the control plane idle meanwhile.
async function nextRequestSent({ clock }: WriteContext): Promise<void> {
  for (let turn = 0; turn < TURNS_UNTIL_SENT; turn += 1) await clock.turn();
}

async function failForOtherWriter(
  job: WriteJob,
  intent: Intent,
  error: OutcomeError,
  context: WriteContext,
): Promise<WriteResult> {
  await context.ledger.close(intent.id, null);
  return reportResult(failedWrite("failed", error, { job, attempts: 0 }), context);
}

function reportResult<End extends WriteResult>(written: End, { onResult }: WriteContext): End {
  onResult(written);
  return written;
}

/** The apply was stopped before a request slot was free. */
type Unsent = { readonly state: "unsent" };

type Applied = {
  readonly state: "applied";
  readonly request: WriteRequest;
  readonly sent: Extract<Sent, { readonly state: "applied" }>;
};

async function sendAndSettle(request: WriteRequest): Promise<WriteResult | RetryWrite | Applied> {
  const { job, intent, context } = request;
  const { sent, reply } = await sendIntent(intent, job.kind, context);
  switch (sent.state) {
    case "applied":
      return { state: "applied", request, sent };
    case "refused":
      return settleRefused(request, sent);
    case "not-sent":
      if (!request.isRepeat) await context.ledger.close(intent.id, null);
      return failedWrite(
        "failed",
        { code: sent.reason, message: `nothing was sent: ${causeText(sent.cause)}` },
        request,
      );
    case "ambiguous":
      return resolveAmbiguous(request, ambiguousWrite(sent.reason, reply === null ? null : tokenIn(reply, job.toSend)));
  }
}

// Recovery relies on the deadline of an intent, so a request that would end later needs a new intent.
function isInTime({ deadline }: Intent, { clock, requestTimeoutMs }: WriteContext): boolean {
  return clock.now() + requestTimeoutMs <= deadline;
}

async function withLaterDeadline(journaled: Intent, context: WriteContext): Promise<Intent> {
  const intent = { ...journaled, id: context.random.id(), deadline: deadlineOf(context) };
  await context.ledger.begin(intent, [journaled.id]);
  return intent;
}

function isSameRequest(one: Intent, other: Intent): boolean {
  return one.operation === other.operation && equal(one.manifest, other.manifest);
}

// With the earlier intent's key, a server that honours keys performs the write once, even if the earlier request arrives
// late. The earlier `versionBefore` distinguishes its effect from others.
function repeatOf({ versionBefore, creates, at, key }: Intent, newIntent: Intent): Intent {
  return { ...newIntent, versionBefore, creates, at, key: key ?? newIntent.key };
}

function deadlineOf({ clock, requestTimeoutMs }: WriteContext): number {
  return Math.ceil(clock.now() + requestTimeoutMs * (1 + WAIT_SHARE));
}

function intentOf(
  { kind, manifest, toSend, ignored, live }: WriteJob,
  route: WriteRoute,
  context: WriteContext,
): Intent {
  const present = live.state === "present" ? (live.row.version ?? null) : null;
  const newest = live.state === "absent" ? (live.newest ?? null) : null;
  return {
    id: context.random.id(),
    identity: manifest.identity,
    kind: kind.type,
    operation: route.operation,
    manifest: toSend,
    ignored,
    versionBefore: present ?? newest,
    creates: live.state === "absent",
    at: context.clock.now(),
    deadline: deadlineOf(context),
    key: context.random.id(),
  };
}

async function applied(
  request: WriteRequest,
  route: WriteRoute,
  sent: Extract<Sent, { state: "applied" }>,
): Promise<WriteResult | RetryWrite> {
  const { kind, toSend } = request.job;
  const row = tryReadRow(route, sent.data);
  if (row !== null && row.key === kind.key(toSend)) {
    learnSubject(request, row);
    return request.isRepeat && (await isOvertaken(request))
      ? retryAsNew(request)
      : settleWrite(request, row, sent.token);
  }
  // `postModelVersion` returns an empty object, which does not show the effect.
  const reason = "the reply does not carry the resource";
  return resolveAmbiguous(request, { reason, hasReply: true, token: sent.token });
}

// The subject of a new version is ours. An unversioned resource may have been created earlier by another subject.
function learnSubject({ intent, context }: WriteRequest, { version, createdBy }: LiveRow): void {
  const before = versionBefore(intent);
  if (before === null || version === undefined || version <= before || !createdBy) return;
  context.serverFacts.subject = createdBy;
  context.serverFacts.writtenBy = createdBy;
}

// The reply to a repeat may be the stored reply of the first request, and another writer may have written since. A
// repeatable write is then sent as a new request; a version or a token is never requested twice.
async function isOvertaken({ job, intent, context }: WriteRequest): Promise<boolean> {
  if (operations[intent.operation].retry !== "repeat") return false;
  return verifyWrite(job.kind, intent, await rereadLive(job, context)).effect === "not-applied";
}

async function retryAsNew(request: WriteRequest): Promise<RetryWrite> {
  await request.context.ledger.close(request.intent.id, null);
  const otherwise = failedWrite(
    "unknown",
    { code: "outcome-unknown", message: "the write took effect, but was overwritten since" },
    request,
  );
  return { state: "retry", otherwise, open: null };
}

function reasonFor({ kind }: WriteJob, { serverFacts }: WriteContext): Reason {
  return kind.writeRoutes.some(({ operation, caution }) => caution !== undefined && serverFacts.has(operation))
    ? "model-version-write"
    : "read-only";
}
