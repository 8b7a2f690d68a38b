import type { Ambiguity } from "../../client/call.ts";
import { errorMessage } from "../../contract/error-message.ts";
import type { Secret } from "../../contract/secret.ts";
import type { LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Intent } from "../../state/ledger.ts";
import { createdVersion } from "../observe/versions-since.ts";
import { announceLongWait } from "./announce-long-wait.ts";
import { findDuplicateVersion, mayBeDuplicated } from "./concurrent-write.ts";
import { isRecorded } from "./receipt.ts";
import { canReplayToken, replayForToken } from "./send-intent.ts";
import { lostToken } from "./stored-reply.ts";
import { isCreatedSince, type Times, verifyWrite } from "./verify-write.ts";
import {
  failedWrite,
  type RetryWrite,
  receiptOfJob,
  rereadLive,
  type WriteRequest,
  type WriteResult,
  type Writing,
} from "./write-job.ts";

/** A write with an unknown outcome, and the received part of its reply. */
export type AmbiguousWrite = {
  readonly reason: string;
  /** Whether a complete reply arrived; then the request cannot arrive later. */
  readonly hasReply: boolean;
  readonly token: Secret | null;
};

const ambiguityText: { readonly [ambiguity in Ambiguity]: string } = {
  timeout: "no reply came in time",
  "connection-lost": "the connection broke before the reply was read",
  aborted: "it was interrupted before the reply was read",
  "server-error": "the control plane answered with a server error",
  redirect: "the reply was a redirect, which is never followed",
  oversize: "the reply was too large to be read",
  malformed: "the reply was cut short",
  protocol: "the reply is not the documented one",
  "not-kept": "the reply could not be stored safely",
  mismatch: "the reply is about another resource",
};

/** Describes a write whose call ended without a clear reply. */
export function ambiguousWrite(ambiguity: Ambiguity, token: Secret | null): AmbiguousWrite {
  return { reason: ambiguityText[ambiguity], hasReply: ambiguity === "protocol" || ambiguity === "mismatch", token };
}

/**
 * Determines by reading live whether a write took effect. If live does not show it, live is read again once the request
 * can no longer arrive; only then may the write be sent again.
 */
export async function resolveAmbiguous(
  request: WriteRequest,
  ambiguous: AmbiguousWrite,
): Promise<WriteResult | RetryWrite> {
  const { job, intent, writing } = request;
  const otherwise = unknown(request, `${ambiguous.reason}; whether the write took effect is unknown`);
  for (const isLast of [false, true]) {
    if (isLast) await waitUntilDeadline(request, ambiguous);
    if (writing.run.signal.aborted || (isLast && writing.run.stopping.aborted)) return otherwise;
    const live = await liveAfter(request, ambiguous);
    const verdict = verifyWrite(job.kind, intent, live);
    switch (verdict.effect) {
      case "applied":
        return settleFound(request, verdict.row, ambiguous);
      case "unreadable":
        return otherwise;
      case "superseded": {
        const row = live.state === "present" ? await createdVersion(job.kind, intent, live.row, writing.reading) : null;
        if (row !== null) return settleFound(request, row, ambiguous);
        return unknown(request, `${ambiguous.reason}; a newer version exists, and it is not the one that was sent`);
      }
      case "not-applied":
        if (mayBeDiscarded(intent, ambiguous)) return discarded(request);
    }
  }
  return { state: "retry", otherwise, repeatable: { intent, isRefused: false } };
}

// The conclusion that a server discards versions is stored, so it needs two reads without the version.
async function liveAfter({ job, intent, writing }: WriteRequest, ambiguous: AmbiguousWrite): Promise<Live> {
  const live = await rereadLive(job, writing);
  if (!mayBeDiscarded(intent, ambiguous)) return live;
  return verifyWrite(job.kind, intent, live).effect === "not-applied" ? rereadLive(job, writing) : live;
}

function mayBeDiscarded({ operation }: Intent, { hasReply }: AmbiguousWrite): boolean {
  return hasReply && operation === "postModelVersion";
}

// A stop request ends the wait early; the caller checks the signal afterwards.
async function waitUntilDeadline(
  { intent: { deadline, identity }, writing }: WriteRequest,
  { reason }: AmbiguousWrite,
): Promise<void> {
  const { stopping, clock } = writing.run;
  const resting = clock.sleep(Math.max(0, deadline - clock.now()), { signal: stopping });
  const text = (): string => `the write of ${identity} may still arrive (${reason})`;
  await announceLongWait(resting, { text, until: deadline }, writing.run).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
  });
}

/** Ends a write that was found in live: its token is requested again where possible, otherwise reported as lost. */
export async function settleFound(
  request: WriteRequest,
  row: LiveRow,
  ambiguous: AmbiguousWrite,
): Promise<WriteResult> {
  const { job, intent, writing } = request;
  if (intent.operation === "postModelVersion") writing.session.capabilities.seenRegistering = true;
  await writing.session.capabilities.save();
  const { session, run } = writing;
  const canReplay = canReplayToken(intent, job.kind, session.capabilities, run.clock.now());
  const isMissing = ambiguous.token === null && intent.creates && canReplay;
  const token = isMissing ? await replayForToken(intent, job.kind, session, run.signal) : ambiguous.token;
  if (token !== null || !intent.creates || !job.kind.issuesToken?.(job.toSend)) return settleWrite(request, row, token);
  await writing.session.ledger.close(intent.id, receiptOfJob(job, row, writing.run.clock.now()));
  return failedWrite("unknown", lostToken(intent.identity, "reply"), request);
}

/** Ends a write whose effect is known. Its token is stored first; its journal entry stays until then. */
export async function settleWrite(request: WriteRequest, row: LiveRow, token: Secret | null): Promise<WriteResult> {
  const { job, intent, writing, attempts } = request;
  const receipt = receiptOfJob(job, row, writing.run.clock.now());
  try {
    const delivered = token === null ? null : await deliver(request, token);
    const isTokenLost = token === null && (await isNewWithToken(request, row));
    await writing.session.ledger.close(intent.id, receipt);
    if (isTokenLost) return failedWrite("failed", lostToken(intent.identity, "token"), request);
    const notice = mayBeDuplicated(request, row) ? await findDuplicateVersion(request, row) : null;
    return { state: "done", row, delivered, attempts, notice };
  } catch (error) {
    if (!(error instanceof UndeliveredError)) throw error;
    await writing.session.ledger.record([receipt]);
    return failedWrite("failed", { code: "token-undelivered", message: error.message }, request);
  }
}

// The control plane's clock counts seconds, so a resource created just before the send seems new; the ledger excludes
// recorded ones.
async function isNewWithToken({ job, intent, writing }: WriteRequest, row: LiveRow): Promise<boolean> {
  const { kind, toSend, live } = job;
  if (!kind.issuesToken?.(toSend)) return false;
  if (intent.creates) return true;
  if (live.state !== "unknown" || live.exists === true || !isCreatedSince(intent.at, row, timesOf(writing)))
    return false;
  return !(await isRecorded(intent.identity, row, writing.session.ledger));
}

function timesOf({ session, run }: Writing): Times {
  return { now: run.clock.now(), serverNow: session.serverTime() };
}

class UndeliveredError extends Error {
  override readonly name = "UndeliveredError";
}

async function deliver(
  {
    job,
    writing: {
      session: { sink },
    },
  }: WriteRequest,
  token: Secret,
): Promise<string | null> {
  const { identity } = job.manifest;
  // With a secret store the server stores the token, so nothing is lost.
  if (sink === null && !job.kind.issuesToken?.(job.toSend)) return null;
  const message = (why: string): string =>
    `${identity} was written, but its one-time token could not be stored (${why}): it is kept sealed in the ledger, and the next run delivers it`;
  if (sink === null) throw new UndeliveredError(message("no sink is chosen"));
  return sink.deliver(identity, token).catch((cause: unknown) => {
    throw new UndeliveredError(message(errorMessage(cause)), { cause });
  });
}

async function discarded(request: WriteRequest): Promise<WriteResult> {
  const { writing, intent } = request;
  writing.session.capabilities.seenRegistering = false;
  await writing.session.capabilities.save();
  await writing.session.ledger.close(intent.id, null);
  const message =
    "the server accepted the model version, but does not list it: this control plane does not register versions with it";
  return failedWrite("failed", { code: "not-registered", message }, request);
}

function unknown(request: WriteRequest, message: string): WriteResult {
  return failedWrite("unknown", { code: "outcome-unknown", message }, request);
}
