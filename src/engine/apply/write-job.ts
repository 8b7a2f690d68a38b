import { ClientError } from "../../client/client-error.ts";
import type { Reader } from "../../client/reader.ts";
import type { Writer } from "../../client/writer.ts";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import type { JsonObject } from "../../contract/json.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import type { Reason } from "../../core/plan/plan.ts";
import type { Recorded } from "../../core/recorded.ts";
import { redactMessage } from "../../core/redact/redact-message.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import type { Intent, Ledger } from "../../state/ledger.ts";
import type { KnownServer } from "../known-server.ts";
import type { Sink } from "../token-sink.ts";
import { createReceipt } from "./receipt.ts";
import type { Recovered } from "./recover.ts";

/** The context for writing resources. */
export type WriteContext = {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly ledger: Ledger;
  readonly serverFacts: KnownServer;
  /** Stores newly learned facts about the server. */
  readonly saveServerFacts: () => Promise<void>;
  /** The control plane's time, in epoch milliseconds; null while unknown. */
  readonly serverTime: () => number | null;
  readonly sink: Sink | null;
  readonly requestTimeoutMs: number;
  readonly rolloutTimeoutMs: number;
  /** Limits requests in flight, while further steps are prepared. */
  readonly withRequestSlot: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Whether sending has stopped. */
  readonly isStopped: () => boolean;
  /**
   * Called with each result; for a failed or unknown one before its request slot is free, so that an apply can stop the
   * steps that wait for the slot.
   */
  readonly onResult: (written: WriteResult) => void;
  /** Whether a lease excludes other writers. */
  readonly hasLease: boolean;
  /** Writes that earlier runs left open, by resource. */
  readonly recovered: ReadonlyMap<Identity, readonly Recovered[]>;
  /** Called with the id of an open intent whose request is sent again under a new intent. */
  readonly onResumed: (intent: string) => void;
  /** Called about a long wait, with its subject and its latest end. */
  readonly onWait: (what: string, until: number) => void;
  /** Reads live of the resource again. */
  readonly readBack: (job: WriteJob) => Promise<Live>;
  readonly clock: Clock;
  readonly random: Random;
  /** A stop request: no new work starts, and requests in flight finish. */
  readonly stopping: AbortSignal;
  /** Stops waiting for rollouts, because a newer revision is due. */
  readonly stopWaiting: AbortSignal;
  /** Also aborts requests in flight. */
  readonly signal: AbortSignal;
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
  /** The receipt of the resource; null where it has none, and where no field is ignored. */
  readonly recorded: Recorded | null;
};

/** One request of a job, with its intent. */
export type WriteRequest = {
  readonly job: WriteJob;
  readonly intent: Intent;
  /** Whether the same request was sent before, and may have taken effect. */
  readonly isRepeat: boolean;
  readonly context: WriteContext;
  /** The number of sends, including this one. */
  readonly attempts: number;
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
  /** Live was in sync: nothing was sent. */
  | { readonly state: "kept" }
  /** Not sent: a rollout in progress was not waited for, or the apply was stopped. */
  | { readonly state: "deferred"; readonly attempts: number }
  | { readonly state: "blocked"; readonly reason: Reason; readonly attempts: number }
  | { readonly state: "failed" | "unknown"; readonly error: OutcomeError; readonly attempts: number };

/** A request without effect that may be sent again; `otherwise` is the result when it is not. */
export type RetryWrite = {
  readonly state: "retry";
  readonly otherwise: WriteResult;
  /** The intent that stays in the journal, since its request may still take effect; null where it was refused. */
  readonly open: Intent | null;
};

/** The result of a failed or unknown write; redacts the manifest's secrets in its message. */
export function failedWrite(
  state: "failed" | "unknown",
  { code, message, ...rest }: OutcomeError,
  { job: { kind, toSend }, attempts }: Pick<WriteRequest, "job" | "attempts">,
): Extract<WriteResult, { readonly error: OutcomeError }> {
  return { state, error: { code, message: redactMessage(message, kind.shape, toSend), ...rest }, attempts };
}

/** The receipt of a write, from the row in the server's reply or list. */
export function receiptOfJob(
  { kind, manifest: { identity }, toSend, ignored, recorded }: WriteJob,
  row: LiveRow,
  { clock }: Pick<WriteContext, "clock">,
): Recorded {
  return createReceipt({ kind, identity, written: toSend, ignored }, row, { known: recorded, at: clock.now() });
}

/** Reads live of the job again; a read that fails leaves it unknown. */
export async function rereadLive(job: WriteJob, context: WriteContext): Promise<Live> {
  try {
    return await context.readBack(job);
  } catch (error) {
    const isReadError = error instanceof ClientError || error instanceof HoldfastError;
    if (!isReadError && !context.signal.aborted) throw error;
    return { state: "unknown", reason: "unreadable" };
  }
}
