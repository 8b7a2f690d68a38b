import type { JsonObject } from "../contract/json.ts";
import type { WriteOperation } from "../contract/operations.ts";
import type { Identity } from "../core/manifest.ts";
import type { Recorded, RecordedHead } from "../core/recorded.ts";
import type { FactStore, ServerFacts } from "../core/server-facts.ts";
import type { ReceiptDigest } from "./receipt-digest.ts";

/** A write that is about to be sent, or whose outcome is still unknown. */
export type Intent = {
  readonly id: string;
  readonly identity: Identity;
  readonly kind: string;
  readonly operation: WriteOperation;
  /** The manifest that is sent. */
  readonly manifest: JsonObject;
  /** The paths where the manifest has the live value, because a rule ignores them. */
  readonly ignored: readonly (readonly string[])[];
  /** The newest version before the send. A version created by this write is newer. */
  readonly versionBefore: number | null;
  /** Whether the resource was known to be absent before the send. */
  readonly creates: boolean;
  /** When the first send was about to start, in epoch milliseconds; null in a journal of an earlier release. */
  readonly at: number | null;
  /** Epoch milliseconds after which a request that has not arrived cannot arrive any more. */
  readonly deadline: number;
  /** The Idempotency-Key of the request; null in a journal of an earlier release. */
  readonly key: string | null;
};

/** An intent that was not closed, because its run was killed or the outcome could not be determined. */
export type PendingIntent = Intent & {
  /** The raw reply of an operation that returns one-time tokens, if it was received. */
  readonly reply: Uint8Array | null;
};

/** The unsealed fields of a receipt, and two values that identify its content without unsealing it. */
export type ReceiptHead = RecordedHead & {
  /** Identifies this receipt, by its sealed content. */
  readonly mark?: string;
  /** The digest of its content; absent if none is stored. */
  readonly digest?: string;
};

/** The sealed part of receipts. */
export type ReceiptContents = {
  /** Computes the digest of a receipt with this content. */
  readonly digest: ReceiptDigest;
  /** The unsealed receipts of these resources; all receipts if none are given. */
  readonly recorded: (identities?: Iterable<Identity>) => Promise<ReadonlyMap<Identity, Recorded>>;
};

/**
 * The record of one server between runs: receipts of what was written, the journal of intents, and facts about the
 * server. Everything that could hold a secret is sealed.
 */
export type Ledger = FactStore &
  ReceiptContents & {
    /** The head of every receipt. Most runs do not need the sealed content of all of them. */
    readonly heads: () => Promise<ReadonlyMap<Identity, ReceiptHead>>;
    /** Stores receipts durably. */
    readonly record: (receipts: readonly Recorded[]) => Promise<void>;
    readonly forget: (identities: readonly Identity[]) => Promise<void>;
    /** Stores an intent, replacing those in `instead`. Resolves once it is durable; nothing may be sent before. */
    readonly begin: (intent: Intent, instead?: readonly string[]) => Promise<void>;
    /** Seals a reply that may carry a one-time token; resolves once it is durable. */
    readonly keepReply: (intent: string, reply: Uint8Array) => Promise<void>;
    /** Closes an intent, and stores the receipt if the write took effect. */
    readonly close: (intent: string, receipt: Recorded | null) => Promise<void>;
    /** The open intents of writes whose outcome is unknown. */
    readonly pending: () => Promise<readonly PendingIntent[]>;
    /** The open intents that stage a version: their files are being uploaded. The reply is what `keepReply` was given. */
    readonly staged: () => Promise<readonly PendingIntent[]>;
    readonly facts: () => Promise<ServerFacts>;
    /** Stores the facts that waited for a write, since there was none. */
    readonly storeWaitingFacts: () => Promise<void>;
  };
