import type { Reader } from "../../client/reader.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Secret } from "../../contract/secret.ts";
import type { DryRunReply } from "../../core/decide/decision.ts";
import type { Kind, LiveRow } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { kindOf } from "../../kinds/index.ts";
import type { PendingIntent } from "../../state/ledger.ts";
import { announceLongWait } from "../announce-long-wait.ts";
import { type Clocks, isCreatedSince } from "../observe/created-since.ts";
import { createdVersion } from "../observe/versions-since.ts";
import type { Sink } from "../token-sink.ts";
import { isRecorded } from "./is-recorded.ts";
import { createReceipt } from "./receipt.ts";
import { canReplayToken, replayForToken, type SendContext, sendIntent } from "./send-intent.ts";
import { lostToken, rowIn, tokenIn } from "./stored-reply.ts";
import { verifyWrite, type WriteEffect } from "./verify-write.ts";

/** The context for recovery. */
export type Recovery = SendContext &
  Clocks & {
    readonly reader: Reader;
    readonly sink: Sink | null;
    /** Whether a lease rejects the request of an intent if it arrives now; absent without a lease. */
    readonly isFenced?: (intent: PendingIntent) => boolean;
    readonly readLive: (intent: PendingIntent, kind: Kind) => Promise<Live>;
    /** Called about a long wait. */
    readonly onProgress: (progress: { readonly what: "waiting"; readonly text: string }) => void;
    /** Dry-runs the write, where a dry run is known to change nothing. */
    readonly dryRun: (intent: PendingIntent, kind: Kind) => Promise<DryRunReply | { readonly state: "impossible" }>;
  };

/** The result of recovering a write that an earlier run left open. */
export type Recovered = {
  readonly intent: PendingIntent;
  readonly effect: WriteEffect["effect"];
  /** Why the effect is unknown, or what is wrong with the one-time token; null without an error. */
  readonly error: OutcomeError | null;
  /** The location of its one-time token. */
  readonly token: string | null;
  /** Whether its intent stays open, since the next run may determine more. */
  readonly isOpen: boolean;
};

/**
 * Determines the outcome of the writes that an earlier run left open. It sends only the request of a write that took
 * effect, with its idempotency key, to get the reply with its one-time token. Writes that took effect are recorded; the
 * intents stay in the journal until their outcomes are reported.
 */
export async function recover(pending: readonly PendingIntent[], context: Recovery): Promise<readonly Recovered[]> {
  const found = await Promise.all(pending.map((intent) => recoverOne(intent, context)));
  return found.filter((one) => one !== null);
}

async function recoverOne(intent: PendingIntent, context: Recovery): Promise<Recovered | null> {
  const kind = kindOf(intent.kind);
  if (kind === undefined) return null;
  const stored = intent.reply === null ? null : rowIn(intent.reply, intent, kind);
  if (stored !== null) return settleApplied(intent, stored, kind, context);
  const live = await readBack(intent, kind, context);
  const evidence = await findWriteEffect(intent, kind, live, context);
  if (evidence.effect === "applied") return settleApplied(intent, evidence.row, kind, context);
  if (evidence.effect === "not-applied")
    return { intent, effect: "not-applied", error: null, token: null, isOpen: false };
  const hasRead = live.state !== "unknown" || live.reason !== "no-read";
  return (hasRead ? null : await recoverByDryRun(intent, live, kind, context)) ?? unknown(intent, live, kind, context);
}

/** Determines from live whether a write took effect; reads older versions where live has a newer one. */
export async function findWriteEffect(
  intent: PendingIntent,
  kind: Kind,
  live: Live,
  context: Pick<Recovery, "reader" | "signal">,
): Promise<WriteEffect> {
  const verdict = verifyWrite(kind, intent, live);
  if (verdict.effect === "superseded" && live.state === "present") {
    const row = await createdVersion(kind, intent, live.row, context);
    return row === null ? verdict : { effect: "applied", row };
  }
  // A resource that was absent and now exists with other content may be ours, changed by another writer since.
  const isChanged = intent.creates && live.state === "present";
  return verdict.effect === "not-applied" && isChanged ? { effect: "superseded" } : verdict;
}

/**
 * Determines by a dry run when a resource without a read was created. One created since the send is ours, and its key
 * returns the stored reply; one in the ledger already has its token.
 */
async function recoverByDryRun(
  intent: PendingIntent,
  live: Live,
  kind: Kind,
  context: Recovery,
): Promise<Recovered | null> {
  const found = await findByDryRun(intent, kind, context);
  if (found.is === "unclear") return null;
  if (found.is === "recorded") {
    await expireReceipt(intent, context);
    return outcomeUnknown(intent, live);
  }
  const { reply } = await sendIntent(intent, kind, context);
  const again = { ...intent, creates: true, reply };
  const row = reply === null ? null : rowIn(reply, again, kind);
  return row === null ? null : settleApplied(again, row, kind, context);
}

/** What a dry run shows of a write whose resource has no read. */
export type FoundByDryRun =
  | { readonly is: "unclear" }
  /** The ledger has it, so this write did not create it. */
  | { readonly is: "recorded" }
  | { readonly is: "created"; readonly id: string };

/** Asks a dry run whether a resource without a read exists since a write of it, whose token can be requested again. */
export async function findByDryRun(
  intent: PendingIntent,
  kind: Kind,
  context: Pick<Recovery, "dryRun" | "ledger" | "serverFacts" | "clock" | "serverTime">,
): Promise<FoundByDryRun> {
  if (!canReplayToken(intent, kind, context)) return { is: "unclear" };
  const answer = await context.dryRun(intent, kind);
  if (answer.state !== "answered" || !answer.row?.id) return { is: "unclear" };
  if (await isRecorded(intent.identity, answer.row, context.ledger)) return { is: "recorded" };
  if (!intent.creates && !isCreatedSince(intent, answer.row, context)) return { is: "unclear" };
  return { is: "created", id: answer.row.id };
}

// A request may still arrive until its deadline, so only a read after it can show that the write had no effect.
async function readBack(intent: PendingIntent, kind: Kind, context: Recovery): Promise<Live> {
  const first = await context.readLive(intent, kind);
  const isApplied = verifyWrite(kind, intent, first).effect === "applied";
  const rest = intent.deadline - context.clock.now();
  // A proxy that strips the fencing header strips the idempotency key too, so honoured keys show that the header arrives.
  const cannotArrive = context.serverFacts.honoursKeys && context.isFenced?.(intent) === true;
  if (isApplied || rest <= 0 || cannotArrive) return first;
  const report = (): void => {
    const until = `until ${timestampText(intent.deadline)} at the latest`;
    context.onProgress({
      what: "waiting",
      text: `an interrupted write of ${intent.identity} may still arrive, ${until}`,
    });
  };
  await announceLongWait(context.clock.sleep(rest, { signal: context.signal }), report, context);
  return context.readLive(intent, kind);
}

/** Records a write that took effect, and delivers its one-time token where it is available. */
export async function settleApplied(
  intent: PendingIntent,
  row: Pick<LiveRow, "id" | "version"> & { readonly manifest: JsonObject | null },
  kind: Kind,
  context: Recovery,
): Promise<Recovered> {
  const { identity, manifest } = intent;
  if (intent.operation === "postModelVersion") context.serverFacts.seenRegistering = true;
  await context.saveServerFacts();
  const known = (await context.ledger.recorded([identity])).get(identity) ?? null;
  await context.ledger.record([
    createReceipt({ ...intent, kind, written: manifest }, row, {
      known,
      at: context.clock.now(),
    }),
  ]);
  const kept = intent.reply === null ? null : tokenIn(intent.reply, manifest);
  const token =
    kept ??
    (intent.creates && canReplayToken(intent, kind, context) ? await replayForToken(intent, kind, context) : null);
  if (token !== null) return delivered(intent, token, context);
  const isLost = intent.creates && kind.issuesToken?.(manifest) === true;
  const error = isLost ? lostToken(identity, intent.reply === null ? "reply" : "token") : null;
  return { intent, effect: "applied", error, token: null, isOpen: false };
}

async function delivered(intent: PendingIntent, token: Secret, { sink }: Recovery): Promise<Recovered> {
  try {
    if (sink === null) throw new Error("no sink is chosen");
    return {
      intent,
      effect: "applied",
      error: null,
      token: await sink.deliver(intent.identity, token),
      isOpen: false,
    };
  } catch {
    const message = `the one-time token of ${intent.identity} is kept sealed in the ledger, since it could not be stored; choose a writable sink (--sink file), and the next run delivers it`;
    return { intent, effect: "applied", error: { code: "token-undelivered", message }, token: null, isOpen: true };
  }
}

async function unknown(intent: PendingIntent, live: Live, kind: Kind, context: Recovery): Promise<Recovered> {
  const { identity, manifest } = intent;
  await expireReceipt(intent, context);
  const isOpen = isUnreadable(live);
  const mayHaveToken = kind.issuesToken?.(manifest) === true && !isOpen && (intent.creates || live.state === "unknown");
  const result = outcomeUnknown(intent, live);
  return mayHaveToken ? { ...result, error: lostToken(identity, "outcome") } : result;
}

function outcomeUnknown(intent: PendingIntent, live: Live): Recovered {
  const isOpen = isUnreadable(live);
  const why =
    live.state === "present"
      ? "live has newer content, and it is not what was sent"
      : `whether it took effect cannot be read${isOpen ? "; the next run reads again" : ""}`;
  const message = `an earlier run was interrupted while it wrote ${intent.identity}: ${why}`;
  const effect = live.state === "present" ? "superseded" : "unreadable";
  return { intent, effect, error: { code: "outcome-unknown", message }, token: null, isOpen };
}

// The next run may read what failed, or have a token that sees it; for a kind without a read, waiting does not help.
function isUnreadable(live: Live): boolean {
  return live.state === "unknown" && (live.reason === "unreadable" || live.reason === "not-visible");
}

// The last write is no longer known: where live cannot be read, the receipt must not count as current.
async function expireReceipt({ identity }: PendingIntent, { ledger }: Recovery): Promise<void> {
  const receipt = (await ledger.recorded([identity])).get(identity);
  if (receipt !== undefined) await ledger.record([{ ...receipt, at: 0 }]);
}
