import { ClientError } from "../../client/client-error.ts";
import type { Sent } from "../../client/writer.ts";
import { operations } from "../../contract/operations.ts";
import { NOT_COMPARED, replaceValues } from "../../core/referenced-values.ts";
import { deploymentInProgress, followRollout } from "../rollout.ts";
import { announceLongWait } from "./announce-long-wait.ts";
import { createReceipt } from "./receipt.ts";
import { settleFound } from "./resolve-ambiguous.ts";
import { verifyWrite } from "./verify-write.ts";
import {
  failedWrite,
  type RetryWrite,
  rereadLive,
  type WriteJob,
  type WriteRequest,
  type WriteResult,
  type Writing,
} from "./write-job.ts";

/** Refusals that do not decide about an earlier request with the same key. */
const TRANSIENT_STATUSES: readonly number[] = [401, 403, 409, 412, 429, 503];

/** Ends a refused write, or allows a retry: after a deployment in progress, or where an earlier request was refused. */
export async function settleRefused(
  request: WriteRequest,
  sent: Extract<Sent, { state: "refused" }>,
): Promise<WriteResult | RetryWrite> {
  const { job, intent, writing } = request;
  const { status, code, reason, message } = sent;
  const applied = await appliedDespiteRefusal(request);
  if (applied !== null) return applied;
  const isDecided =
    !request.isRepeat || (writing.session.capabilities.honoursKeys && !TRANSIENT_STATUSES.includes(status));
  // The first refusal while a deployment is in progress decides too, but is not stored: its key may be used again.
  const isRepeatable = status === 409 && job.kind.rollsOut === true && !request.isRepeat && !isExisting(request);
  const repeatable = isDecided && !isRepeatable ? null : { intent, isRefused: isRepeatable };
  if (repeatable === null) await writing.session.ledger.close(intent.id, null);
  if (status === 409 && isExisting(request)) return keepExisting(request);
  const [detail] = sent.details;
  const pointer = detail === undefined ? {} : { pointer: detail.pointer };
  const { method, path } = operations[intent.operation];
  const error = {
    code: code ?? reason,
    message: message || `${method} ${path} answered ${status}`,
    status,
    ...pointer,
  };
  const otherwise = failedWrite("failed", error, request);
  const retry = { state: "retry", otherwise, repeatable } as const;
  // This may be the stored refusal of the first request, whose cause may be fixed by now.
  if (reason === "route-missing" || (request.isRepeat && isDecided)) return retry;
  if (status !== 409 || !job.kind.rollsOut) return otherwise;
  if (await waitForRollout(job, writing)) return retry;
  if (isRepeatable) await writing.session.ledger.close(intent.id, null);
  return writing.run.stopWaiting.aborted ? { state: "deferred", attempts: request.attempts } : otherwise;
}

// What may only be created is refused where it exists.
function isExisting({ job: { kind, live }, intent }: WriteRequest): boolean {
  const route = kind.writeRoutes.find(({ operation }) => operation === intent.operation);
  return route?.createsOnly === true && live.state === "unknown";
}

// Recorded as it is declared, without its values: which ones are live is not known.
async function keepExisting({ job, intent, writing }: WriteRequest): Promise<WriteResult> {
  const { kind, toSend, ignored } = job;
  const written = replaceValues(kind, toSend, () => NOT_COMPARED);
  const row = { id: null, manifest: written };
  const at = writing.run.clock.now();
  const sent = { kind, identity: intent.identity, written, ignored };
  await writing.session.ledger.close(intent.id, createReceipt(sent, row, { known: null, at }));
  return { state: "kept", isCompared: false };
}

// A proxy may mix up replies. If the refused account exists, its one-time token is lost, and only this check shows it.
async function appliedDespiteRefusal(request: WriteRequest): Promise<WriteResult | null> {
  const { job, intent, writing } = request;
  if (!intent.creates || job.kind.issuesToken?.(job.toSend) !== true) return null;
  const verdict = verifyWrite(job.kind, intent, await rereadLive(job, writing));
  const reason = "the reply refuses a write that took effect";
  return verdict.effect === "applied"
    ? settleFound(request, verdict.row, { reason, hasReply: true, token: null })
    : null;
}

/** Waits until the application's rollout in progress has ended; false when it does not end, or cannot be followed. */
async function waitForRollout({ live, manifest }: WriteJob, writing: Writing): Promise<boolean> {
  const { clock, stopping, stopWaiting } = writing.run;
  const { rolloutTimeoutMs: timeoutMs } = writing.rules;
  const { reader } = writing.session;
  const signal = AbortSignal.any([stopping, stopWaiting]);
  const applicationId = live.state === "present" ? live.row.id : null;
  if (applicationId === null) return false;
  try {
    const running = await deploymentInProgress(reader, applicationId, { signal });
    // The deployment has ended since the refusal; if the conflict is a different one, the retries will show it.
    if (!running?.id) return true;
    const rollout = { applicationId, deploymentId: running.id };
    const until = clock.now() + timeoutMs;
    const following = followRollout(reader, rollout, { clock, timeoutMs, signal });
    const text = (): string => `the deployment of ${manifest.identity} that is in progress`;
    return (await announceLongWait(following, { text, until }, writing.run)) !== "timeout";
  } catch (error) {
    if (signal.aborted || error instanceof ClientError) return false;
    throw error;
  }
}
