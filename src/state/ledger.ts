import type { JsonObject } from "../contract/json.ts";
import type { WriteOperation } from "../contract/operations.ts";
import type { Identity } from "../core/manifest.ts";
import type { Recorded, RecordedHead } from "../core/recorded.ts";
import type { ReceiptDigest } from "./receipt-digest.ts";
import type { ServerFactChanges, StoredServerFacts } from "./server-facts.ts";

/** A write that is about to be sent, or whose outcome is not known yet. */
export type Intent = {
  readonly id: string;
  readonly identity: Identity;
  readonly kind: string;
  readonly operation: WriteOperation;
  /** The manifest that is sent. */
  readonly manifest: JsonObject;
  /** The paths at which it has the value of live, since a rule ignores them. */
  readonly ignored: readonly (readonly string[])[];
  /** The newest version before the send: what a version made by this write is told apart from. */
  readonly versionBefore: number | null;
  /** Whether the resource was known to be absent before the send. */
  readonly creates: boolean;
  /** When the request was first about to be sent, epoch milliseconds; null in a journal of an earlier release. */
  readonly at: number | null;
  /** Epoch milliseconds after which a request that has not arrived will not arrive any more. */
  readonly deadline: number;
  /** What the request carries as its Idempotency-Key; null in a journal of an earlier release. */
  readonly key: string | null;
};

/** An intent found open: by a run that was killed, or with an outcome that could not be told. */
export type PendingIntent = Intent & {
  /** The raw reply of an operation that answers one-time tokens, where it reached us. */
  readonly reply: Uint8Array | null;
};

/** The outside of a receipt, and what its content is recognised by without opening it. */
export type ReceiptHead = RecordedHead & {
  /** Tells this receipt from every other, by its sealed content. */
  readonly mark?: string;
  /** The digest of its content; absent where none is known. */
  readonly digest?: string;
};

/**
 * What is remembered of one server between runs: receipts of what was written, the journal of intents, and facts
 * about the server. Everything that could hold a secret is sealed.
 */
export type Ledger = {
  /** The outside of every receipt: opening them all is more work than most runs need. */
  readonly heads: () => Promise<ReadonlyMap<Identity, ReceiptHead>>;
  /** Answers the digest that a receipt with this content would have. */
  readonly digest: ReceiptDigest;
  /** The receipts of these resources, opened; all of them without. */
  readonly recorded: (identities?: Iterable<Identity>) => Promise<ReadonlyMap<Identity, Recorded>>;
  /** Remembers receipts, durably. */
  readonly record: (receipts: readonly Recorded[]) => Promise<void>;
  readonly forget: (identities: readonly Identity[]) => Promise<void>;
  /** Resolves once the intent is durable, in the place of those named; nothing may be sent before. */
  readonly begin: (intent: Intent, instead?: readonly string[]) => Promise<void>;
  /** Seals a reply that may carry a one-time token; resolves once it is durable. */
  readonly keepReply: (intent: string, reply: Uint8Array) => Promise<void>;
  /** Ends an intent, with the receipt of its effect where it had one. */
  readonly close: (intent: string, receipt: Recorded | null) => Promise<void>;
  readonly pending: () => Promise<readonly PendingIntent[]>;
  readonly facts: () => Promise<StoredServerFacts>;
  /** Merges what was learned into the facts: others may have learned something else meanwhile. */
  readonly storeFacts: (learned: ServerFactChanges) => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};
