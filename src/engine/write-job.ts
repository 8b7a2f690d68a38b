import { ClientError } from "../client/failure.ts";
import type { Reader } from "../client/reader.ts";
import type { Writer } from "../client/writer.ts";
import type { JsonObject } from "../contract/json.ts";
import type { Shape } from "../contract/shape.ts";
import { HoldfastError } from "../core/errors.ts";
import type { Kind, LiveRow } from "../core/kind.ts";
import type { Live } from "../core/live.ts";
import type { Identity, Manifest } from "../core/manifest.ts";
import type { Reason } from "../core/plan.ts";
import type { Recorded } from "../core/recorded.ts";
import { redactMessage } from "../core/redact-message.ts";
import type { OutcomeError } from "../core/report.ts";
import type { Intent, Ledger } from "../state/ledger.ts";
import type { KnownServer } from "./known-server.ts";
import { receiptFrom } from "./receipt.ts";
import type { Recovered } from "./recover.ts";
import type { Semaphore } from "./semaphore.ts";
import type { Sink } from "./sink.ts";

/** What writing needs of its surroundings. */
export type WriteContext = {
  readonly reader: Reader;
  readonly writer: Writer;
  readonly ledger: Ledger;
  readonly memory: KnownServer;
  /** Makes durable what was learned of the server. */
  readonly remember: () => Promise<void>;
  /** What time it is for the control plane, in epoch milliseconds; null while nobody knows. */
  readonly serverTime: () => number | null;
  readonly sink: Sink | null;
  readonly requestTimeoutMs: number;
  readonly rolloutTimeoutMs: number;
  /** Runs what sends a request once a place is free: that many are in flight, and steps ahead of them are made ready. */
  readonly takeTurn: Semaphore;
  /** Whether nothing more is to be sent. */
  readonly isStopped: () => boolean;
  /** Told of an end that is not a good one, before anybody else has a turn. */
  readonly onTrouble: (written: WriteResult) => void;
  /** Whether a lease keeps other writers apart. */
  readonly hasLease: boolean;
  /** What earlier runs left open, by resource. */
  readonly recovered: ReadonlyMap<Identity, readonly Recovered[]>;
  /** Told of an open intent whose request is sent again, in its place. */
  readonly onResumed: (intent: string) => void;
  /** Told of a wait that takes long: what is waited for, and until when at the latest. */
  readonly onWait: (what: string, until: number) => void;
  /** Reads live of the resource again. */
  readonly readBack: (job: WriteJob) => Promise<Live>;
  readonly now: () => number;
  /** Asked to end: nothing new is started, what is in flight is finished. */
  readonly stopping: AbortSignal;
  /** Something newer is to be looked at: rollouts are waited for no longer. */
  readonly stopWaiting: AbortSignal;
  /** Ends what is in flight too. */
  readonly signal: AbortSignal;
};

/** One resource to write. */
export type WriteJob = {
  readonly kind: Kind;
  readonly shape: Shape;
  readonly manifest: Manifest;
  /** The manifest to send: as declared, with ignored fields as live has them. */
  readonly body: JsonObject;
  /** The paths of those fields. */
  readonly left: readonly (readonly string[])[];
  readonly live: Live;
  /** What is recorded of it; null where nothing is, and where no field is left as live has it. */
  readonly recorded: Recorded | null;
};

/** One send of a job, under its intent. */
export type WriteAttempt = {
  readonly job: WriteJob;
  readonly intent: Intent;
  /** Whether the same request was sent before, and may have had its effect since. */
  readonly isRepeat: boolean;
  readonly context: WriteContext;
  /** How many sends there were, this one included. */
  readonly attempts: number;
};

/** What became of a write. */
export type WriteResult =
  | {
      readonly state: "done";
      readonly row: LiveRow;
      /** Where the one-time token went; null when none came. */
      readonly delivered: string | null;
      readonly attempts: number;
      /** What is to be told of it although it was made: versions that were made beside it. */
      readonly notice: OutcomeError | null;
    }
  /** Live turned out to be as wanted: nothing was sent. */
  | { readonly state: "kept" }
  /** A rollout was in its way and there was no time to wait for it, or the apply was stopped before it was sent. */
  | { readonly state: "put-off"; readonly attempts: number }
  | { readonly state: "blocked"; readonly reason: Reason; readonly attempts: number }
  | { readonly state: "failed" | "unknown"; readonly error: OutcomeError; readonly attempts: number };

/** An attempt that had no effect and is worth another one; `otherwise` is the end when there is none. */
export type RetryWrite = {
  readonly state: "again";
  readonly otherwise: WriteResult;
  /** The intent that stays in the journal, where its request may have arrived all the same; null where it was refused. */
  readonly open: Intent | null;
};

/** The end of a write that did not go well, in words that carry none of the manifest's secrets. */
export function failedWrite(
  state: "failed" | "unknown",
  { code, message, ...rest }: OutcomeError,
  { job: { shape, body }, attempts }: Pick<WriteAttempt, "job" | "attempts">,
): Extract<WriteResult, { readonly error: OutcomeError }> {
  return { state, error: { code, message: redactMessage(message, shape, body), ...rest }, attempts };
}

/** The receipt of a write, from the row that the server answered or showed. */
export function receiptOf(
  { kind, shape, manifest: { identity }, body, left, recorded }: WriteJob,
  row: LiveRow,
  { now }: Pick<WriteContext, "now">,
): Recorded {
  return receiptFrom({ kind, shape, identity, written: body, left }, row, { known: recorded, at: now() });
}

/** Reads live of the job again; a read that fails leaves it unknown. */
export async function rereadLive(job: WriteJob, context: WriteContext): Promise<Live> {
  try {
    return await context.readBack(job);
  } catch (error) {
    const isServers = error instanceof ClientError || error instanceof HoldfastError;
    if (!isServers && !context.signal.aborted) throw error;
    return { state: "unknown", reason: "unreadable" };
  }
}
