import { ClientError } from "../../client/client-error.ts";
import type { JsonObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Manifest } from "../../core/manifest.ts";
import type { Reason } from "../../core/plan/plan.ts";
import { type Recorded, type RecordedHead, requireOpened } from "../../core/recorded.ts";
import { redactMessage } from "../../core/redact/redact-message.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import type { Intent } from "../../state/ledger.ts";
import type { LiveReading } from "../observe/read-live.ts";
import type { RolloutWaiting, Run } from "../run.ts";
import type { ServerSession } from "../session.ts";
import type { ApplyRules } from "../target.ts";
import { readAgain } from "./read-again.ts";
import { createReceipt } from "./receipt.ts";

/** What limits and stops the requests of an apply. */
export type RequestQueue = {
  /** Limits requests in flight, while further steps are prepared. */
  readonly withRequestSlot: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Whether sending has stopped. */
  readonly isStopped: () => boolean;
  /**
   * Called with each result; for a failed or unknown one before its request slot is free, so that an apply can stop the
   * steps that wait for the slot.
   */
  readonly onResult: (written: WriteResult) => void;
};

/** How resources are written. */
export type Writing = {
  /** The session, with the writer of this pass. */
  readonly session: ServerSession;
  /** Whether a lease excludes other writers. */
  readonly hasLease: boolean;
  readonly rules: ApplyRules;
  /** How live of a resource is read again. */
  readonly reading: LiveReading;
  readonly queue: RequestQueue;
  readonly run: Run & RolloutWaiting;
};

/** One resource to write. */
export type WriteJob = {
  readonly kind: Kind;
  readonly manifest: Manifest;
  /** The manifest to send: as declared, with live's values in ignored fields. */
  readonly toSend: JsonObject;
  /** The paths of the ignored fields. */
  readonly ignored: readonly (readonly string[])[];
  readonly live: Live;
  /** The receipt of the resource, opened where a field is ignored; null where it has none. */
  readonly recorded: RecordedHead | null;
};

/** A job, and how often it was sent, including this time. */
type SentWrite = { readonly job: WriteJob; readonly attempts: number };

/** One request of a job, with its intent. */
export type WriteRequest = SentWrite & {
  readonly intent: Intent;
  /** Whether the same request was sent before, and may have taken effect. */
  readonly isRepeat: boolean;
  readonly writing: Writing;
};

/** The result of a write. */
export type WriteResult =
  | {
      readonly state: "done";
      readonly row: LiveRow;
      /** The location of the one-time token; null when there was none. */
      readonly delivered: string | null;
      readonly attempts: number;
      /** A warning although it succeeded: other versions were created at the same time. */
      readonly notice: OutcomeError | null;
    }
  /** Live was in sync: nothing was sent, or it exists and cannot be compared. */
  | { readonly state: "kept"; readonly isCompared?: false }
  /** Not sent: a rollout in progress was not waited for, or the apply was stopped. */
  | { readonly state: "deferred"; readonly attempts: number }
  | { readonly state: "blocked"; readonly reason: Reason; readonly attempts: number }
  | { readonly state: "failed" | "unknown"; readonly error: OutcomeError; readonly attempts: number };

/** A write whose request may be sent again with its key, since something between may deliver the first one later. */
export type RepeatableWrite = {
  /** Its intent, which stays in the journal until then. */
  readonly intent: Intent;
  /** Whether it was refused for now; otherwise it may have taken effect. */
  readonly isRefused: boolean;
};

/** A request without effect that may be sent again; `otherwise` is the result when it is not. */
export type RetryWrite = {
  readonly state: "retry";
  readonly otherwise: WriteResult;
  /** The write that is repeated where it is the same; null where the next request is a new one. */
  readonly repeatable: RepeatableWrite | null;
};

/** The code of a write whose record could not be stored. */
export const LEDGER_UNWRITABLE = "ledger-unwritable";

/** The result of a failed or unknown write; redacts the manifest's secrets in its message. */
export function failedWrite(
  state: "failed" | "unknown",
  { code, message, ...rest }: OutcomeError,
  { job: { kind, toSend }, attempts }: SentWrite,
): Extract<WriteResult, { readonly error: OutcomeError }> {
  return { state, error: { code, message: redactMessage(message, kind.shape, toSend), ...rest }, attempts };
}

/** The receipt of a write, from the row in the server's reply or list. */
export function receiptOfJob(
  { kind, manifest: { identity }, toSend, ignored, recorded }: WriteJob,
  row: LiveRow,
  at: number,
): Recorded {
  const known = recorded === null || ignored.length === 0 ? null : requireOpened(recorded);
  return createReceipt({ kind, identity, written: toSend, ignored }, row, { known, at });
}

/** Reads live of the job again. */
export async function readBack({ kind, manifest, live, recorded }: WriteJob, { reading }: Writing): Promise<Live> {
  const id = live.state === "present" ? live.row.id : (recorded?.id ?? null);
  return readAgain({ kind, manifest, id }, reading);
}

/** Reads live of the job again; a read that fails leaves it unknown. */
export async function rereadLive(job: WriteJob, writing: Writing): Promise<Live> {
  try {
    return await readBack(job, writing);
  } catch (error) {
    const isReadError = error instanceof ClientError || error instanceof HoldfastError;
    if (!isReadError && !writing.run.signal.aborted) throw error;
    return { state: "unknown", reason: "unreadable" };
  }
}
