import { causeText } from "../../client/reachability.ts";
import type { Sent } from "../../client/writer.ts";
import { errorMessage } from "../../contract/error-message.ts";
import { equal } from "../../contract/json.ts";
import { operations } from "../../contract/operations.ts";
import { chooseWriteOperation } from "../../core/decide/choose-write-operation.ts";
import { type LiveRow, tryReadRow, type WriteRoute } from "../../core/kind.ts";
import type { Reason } from "../../core/plan/plan.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import { isStorageError } from "../../state/is-storage-error.ts";
import type { Intent } from "../../state/ledger.ts";
import { findOtherWriter, isUnprotected, versionBefore } from "./concurrent-write.ts";
import { deadlineOf, type JournalEntry, journalEntry } from "./journal-entry.ts";
import type { Recovered } from "./recover.ts";
import { ambiguousWrite, resolveAmbiguous, settleWrite } from "./resolve-ambiguous.ts";
import { sendIntent } from "./send-intent.ts";
import { settleRefused } from "./settle-refused.ts";
import { tokenIn } from "./stored-reply.ts";
import { verifyWrite } from "./verify-write.ts";
import {
  failedWrite,
  LEDGER_UNWRITABLE,
  type RepeatableWrite,
  type RetryWrite,
  rereadLive,
  type WriteJob,
  type WriteRequest,
  type WriteResult,
  type Writing,
} from "./write-job.ts";

/** How often a write is sent at most: again after a deployment in progress, or a read-back that shows no effect. */
const MAX_ATTEMPTS = 3;

const NO_FURTHER_WRITES = "no further writes are sent; the next run reads live to resolve this one";

/** The result of a write, and the ids of the open intents of earlier runs whose requests it has sent again. */
export type Written = { readonly result: WriteResult; readonly resumed: readonly string[] };

/** Writes one resource: journals the intent, sends it, and after an ambiguous outcome reads live before sending again. */
export async function write(job: WriteJob, recovered: readonly Recovered[], writing: Writing): Promise<Written> {
  const resumed: string[] = [];
  const ended = (result: WriteResult): Written => ({ result, resumed });
  let last: WriteResult | null = null;
  let earlier: readonly EarlierWrite[] = recovered
    .filter(({ effect }) => effect !== "applied")
    .map(({ intent, isOpen }) => ({ intent, isOpen, isRefused: false }));
  const endedWithoutRepeat = async (result: WriteResult): Promise<Written> => {
    for (const { intent, isRefused } of earlier) if (isRefused) await writing.session.ledger.close(intent.id, null);
    return ended(result);
  };
  try {
    for (let attempts = 1; attempts <= MAX_ATTEMPTS; attempts += 1) {
      const current = attempts === 1 ? job : { ...job, live: await rereadLive(job, writing) };
      const route = chooseWriteOperation(job.kind, current.live, writing.session.capabilities, job.toSend);
      if (route === null)
        return endedWithoutRepeat({ state: "blocked", reason: reasonFor(job, writing), attempts: attempts - 1 });
      const round = await journal({ job: current, route, writing, attempts, earlier });
      if (round.repeats !== null) resumed.push(round.repeats);
      const next = await send(round);
      if (next.state === "unsent") return ended(last ?? { state: "deferred", attempts: 0 });
      if (next.state !== "retry") return ended(next);
      last = next.otherwise;
      earlier = next.repeatable === null ? [] : [{ ...next.repeatable, isOpen: false }];
      if (writing.run.stopping.aborted) return endedWithoutRepeat(last);
    }
    if (last !== null) return endedWithoutRepeat(last);
  } catch (error) {
    if (!isStorageError(error)) throw error;
    const message = `the ledger cannot be written (${errorMessage(error)}): ${NO_FURTHER_WRITES}`;
    return ended(failedWrite("unknown", { code: LEDGER_UNWRITABLE, message }, { job, attempts: 1 }));
  }
  return ended(failedWrite("failed", { code: "not-sent", message: "nothing was sent" }, { job, attempts: 0 }));
}

/** An earlier intent of the same resource in the journal; an open one must not be replaced by a different request. */
type EarlierWrite = RepeatableWrite & { readonly isOpen: Recovered["isOpen"] };

type WriteRound = {
  readonly job: WriteJob;
  readonly route: WriteRoute;
  readonly writing: Writing;
  readonly attempts: number;
  readonly earlier: readonly EarlierWrite[];
};

/** A round whose intent is in the journal. */
type Journaled = WriteRound & {
  readonly entry: JournalEntry;
  /** The id of the earlier intent whose request is sent again; null for a new request, and where that was refused. */
  readonly repeats: string | null;
};

async function journal(round: WriteRound): Promise<Journaled> {
  const { job, route, writing, earlier } = round;
  const newIntent = intentOf(job, route, writing);
  const repeated = earlier.find(({ intent }) => isSameRequest(intent, newIntent)) ?? null;
  const journaled = repeated === null ? newIntent : repeatOf(repeated, newIntent);
  const entry = journalEntry(journaled, writing);
  const replaced = earlier.filter((one) => one === repeated || !one.isOpen);
  await writing.session.ledger.begin(
    journaled,
    replaced.map(({ intent }) => intent.id),
  );
  return { ...round, entry, repeats: repeated === null || repeated.isRefused ? null : repeated.intent.id };
}

async function send({
  job,
  route,
  writing,
  attempts,
  entry,
  repeats,
}: Journaled): Promise<WriteResult | RetryWrite | Unsent> {
  const isRepeat = repeats !== null;
  const next = await writing.queue.withRequestSlot(async (): Promise<WriteResult | RetryWrite | Unsent | Applied> => {
    if (writing.queue.isStopped()) {
      // If it cannot be closed, the next run determines that it was never sent.
      if (!isRepeat) await writing.session.ledger.close(entry.intent().id, null).catch(() => undefined);
      return { state: "unsent" };
    }
    if (attempts === 1 && !isRepeat && isUnprotected(job, writing)) {
      const other = await findOtherWriter(job, writing);
      if (other !== null) return failForOtherWriter(job, entry.intent(), other, writing);
    }
    const sent = await sendAndSettle(entry, { job, isRepeat, writing, attempts });
    return sent.state === "failed" || sent.state === "unknown" ? reportResult(sent, writing) : sent;
  });
  if (next.state !== "applied") return next;
  // The slot is free now, so that storing the outcome delays no other request.
  await nextRequestSent(writing);
  return applied(next.request, route, next.sent);
}

// A connection is reused one event loop turn after its reply, and the client checks it for one turn more.
const TURNS_UNTIL_SENT = 3;

// Many replies arrive at once. Storing each outcome immediately would leave the control plane idle meanwhile.
async function nextRequestSent({ run: { clock } }: Writing): Promise<void> {
  for (let turn = 0; turn < TURNS_UNTIL_SENT; turn += 1) await clock.turn();
}

async function failForOtherWriter(
  job: WriteJob,
  intent: Intent,
  error: OutcomeError,
  writing: Writing,
): Promise<WriteResult> {
  await writing.session.ledger.close(intent.id, null);
  return reportResult(failedWrite("failed", error, { job, attempts: 0 }), writing);
}

function reportResult<End extends WriteResult>(written: End, { queue }: Writing): End {
  queue.onResult(written);
  return written;
}

/** The apply was stopped before a request slot was free. */
type Unsent = { readonly state: "unsent" };

type Applied = {
  readonly state: "applied";
  readonly request: WriteRequest;
  readonly sent: Extract<Sent, { readonly state: "applied" }>;
};

async function sendAndSettle(
  entry: JournalEntry,
  sending: Omit<WriteRequest, "intent">,
): Promise<WriteResult | RetryWrite | Applied> {
  const { job, writing } = sending;
  const { session, run } = writing;
  const { sent, reply } = await sendIntent(entry.intent(), job.kind, session, { signal: run.signal, entry });
  const request = { ...sending, intent: entry.intent() };
  switch (sent.state) {
    case "applied":
      return { state: "applied", request, sent };
    case "refused":
      return settleRefused(request, sent);
    case "not-sent":
      if (!request.isRepeat) await session.ledger.close(request.intent.id, null);
      return failedWrite(
        "failed",
        { code: sent.reason, message: `nothing was sent: ${causeText(sent.cause)}` },
        request,
      );
    case "ambiguous":
      return resolveAmbiguous(request, ambiguousWrite(sent.reason, reply === null ? null : tokenIn(reply, job.toSend)));
  }
}

function isSameRequest(one: Intent, other: Intent): boolean {
  return one.operation === other.operation && equal(one.manifest, other.manifest);
}

// With the earlier intent's key, a server that honours keys performs the write once, even if the earlier request arrives
// late. The earlier `versionBefore` distinguishes its effect from others; what was refused had none.
function repeatOf({ intent, isRefused }: RepeatableWrite, newIntent: Intent): Intent {
  const { versionBefore, creates, at } = isRefused ? newIntent : intent;
  return { ...newIntent, versionBefore, creates, at, key: intent.key ?? newIntent.key };
}

function intentOf({ kind, manifest, toSend, ignored, live }: WriteJob, route: WriteRoute, writing: Writing): Intent {
  const present = live.state === "present" ? (live.row.version ?? null) : null;
  const newest = live.state === "absent" ? (live.newest ?? null) : null;
  return {
    id: writing.run.random.id(),
    identity: manifest.identity,
    kind: kind.type,
    operation: route.operation,
    manifest: toSend,
    ignored,
    versionBefore: present ?? newest,
    creates: live.state === "absent",
    at: writing.run.clock.now(),
    deadline: deadlineOf(writing),
    key: writing.run.random.id(),
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
function learnSubject({ intent, writing }: WriteRequest, { version, createdBy }: LiveRow): void {
  const before = versionBefore(intent);
  if (before === null || version === undefined || version <= before || !createdBy) return;
  writing.session.capabilities.subject = createdBy;
  writing.session.capabilities.writtenBy = createdBy;
}

// The reply to a repeat may be the stored reply of the first request, and another writer may have written since. A
// repeatable write is then sent as a new request; a version or a token is never requested twice.
async function isOvertaken({ job, intent, writing }: WriteRequest): Promise<boolean> {
  if (operations[intent.operation].retry !== "repeat") return false;
  return verifyWrite(job.kind, intent, await rereadLive(job, writing)).effect === "not-applied";
}

async function retryAsNew(request: WriteRequest): Promise<RetryWrite> {
  await request.writing.session.ledger.close(request.intent.id, null);
  const otherwise = failedWrite(
    "unknown",
    { code: "outcome-unknown", message: "the write took effect, but was overwritten since" },
    request,
  );
  return { state: "retry", otherwise, repeatable: null };
}

function reasonFor({ kind }: WriteJob, { session: { capabilities } }: Writing): Reason {
  if (kind.writeRoutes.some(({ operation, createsOnly }) => createsOnly && capabilities.has(operation)))
    return "create-only";
  return kind.writeRoutes.some(({ operation, caution }) => caution !== undefined && capabilities.has(operation))
    ? "model-version-write"
    : "read-only";
}
