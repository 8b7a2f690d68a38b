import { errorMessage } from "../../contract/error-message.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Kind, TokenRotation } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Identity, Manifest } from "../../core/manifest.ts";
import type { OutcomeError } from "../../core/report/report.ts";
import { isShown, type Sight, sightOf } from "../../core/sight.ts";
import { kindOf, kindsByType } from "../../kinds/index.ts";
import type { PendingIntent, ReceiptHead } from "../../state/ledger.ts";
import { isDryRunSafe } from "../observe/dry-run.ts";
import { type LiveReading, readCaller } from "../observe/read-live.ts";
import { createdVersion } from "../observe/versions-since.ts";
import type { Run } from "../run.ts";
import type { ServerSession } from "../session.ts";
import { announceLongWait } from "./announce-long-wait.ts";
import { readAgain, uncachedReading } from "./read-again.ts";
import { createReceipt, isRecorded, type WrittenRow } from "./receipt.ts";
import { sendRotation } from "./rotate-due-tokens.ts";
import { canReplayToken, replayForToken, sendIntent } from "./send-intent.ts";
import { lostToken, rowIn, tokenIn } from "./stored-reply.ts";
import { isCreatedSince, verifyWrite, type WriteEffect } from "./verify-write.ts";

/** How writes that an earlier run left open are looked for. */
export type Recovery = {
  readonly session: ServerSession;
  readonly recorded: ReadonlyMap<Identity, ReceiptHead>;
  /** What the token may see. */
  readonly sight: Sight;
  /** How live is read; it makes no dry run where none is known to change nothing. */
  readonly reading: LiveReading;
  /** Whether a lease rejects the request of an intent if it arrives now. */
  readonly isFenced: (intent: PendingIntent) => boolean;
  readonly run: Run;
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

/** Reads what the recovery of writes starts from. */
export async function startRecovery(
  session: ServerSession,
  concurrency: number,
  run: Recovery["run"],
  isFenced: Recovery["isFenced"] = () => false,
): Promise<Recovery> {
  const recorded = await session.heads();
  const again = uncachedReading(session, concurrency, run.signal);
  const isSafe = isDryRunSafe(session.capabilities);
  const reading: LiveReading = isSafe ? again : { ...again, dryRun: async () => ({ state: "impossible" }) };
  return { session, recorded, sight: sightOf(await readCaller(reading)), reading, isFenced, run };
}

/**
 * Determines the outcome of the writes that an earlier run left open. It sends only the request of a write that took
 * effect, with its idempotency key, to get the reply with its one-time token. Writes that took effect are recorded; the
 * intents stay in the journal until their outcomes are reported.
 */
export async function recover(pending: readonly PendingIntent[], recovery: Recovery): Promise<readonly Recovered[]> {
  const found = await Promise.all(pending.map((intent) => recoverOne(intent, recovery)));
  return found.filter((one) => one !== null);
}

/** Live of the resource that a write is about. */
export async function liveOf(intent: PendingIntent, kind: Kind, recovery: Recovery): Promise<Live> {
  const { recorded, sight, reading } = recovery;
  const { identity } = intent;
  const live = await readAgain(
    { kind, manifest: sentManifest(intent), id: recorded.get(identity)?.id ?? null },
    reading,
  );
  const isUnseen = live.state === "absent" && sight !== null && !isShown(sight, identity, kindsByType);
  return isUnseen ? { state: "unknown", reason: "not-visible" } : live;
}

function sentManifest({ kind, identity, manifest: value }: PendingIntent): Manifest {
  return { kind, identity, value, file: "", line: 1, references: [] };
}

async function recoverOne(intent: PendingIntent, recovery: Recovery): Promise<Recovered | null> {
  const kind = kindOf(intent.kind);
  if (kind === undefined) return null;
  if (kind.rotation?.operation === intent.operation) return recoverRotation(intent, kind.rotation, recovery);
  const stored = intent.reply === null ? null : rowIn(intent.reply, intent, kind);
  if (stored !== null) return settleApplied(intent, stored, kind, recovery);
  const live = await readBack(intent, kind, recovery);
  const evidence = await findWriteEffect(intent, kind, live, recovery);
  if (evidence.effect === "applied") return settleApplied(intent, evidence.row, kind, recovery);
  if (evidence.effect === "not-applied")
    return { intent, effect: "not-applied", error: null, token: null, isOpen: false };
  const hasRead = live.state !== "unknown" || live.reason !== "no-read";
  return (
    (hasRead ? null : await recoverByDryRun(intent, live, kind, recovery)) ?? unknown(intent, live, kind, recovery)
  );
}

/** Determines from live whether a write took effect; reads older versions where live has a newer one. */
export async function findWriteEffect(
  intent: PendingIntent,
  kind: Kind,
  live: Live,
  { reading }: Recovery,
): Promise<WriteEffect> {
  const verdict = verifyWrite(kind, intent, live);
  if (verdict.effect === "superseded" && live.state === "present") {
    const row = await createdVersion(kind, intent, live.row, reading);
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
  recovery: Recovery,
): Promise<Recovered | null> {
  const found = await findByDryRun(intent, kind, recovery);
  if (found.is === "unclear") return null;
  if (found.is === "recorded") {
    await expireReceipt(intent, recovery);
    return outcomeUnknown(intent, live);
  }
  const { reply } = await sendIntent(intent, kind, recovery.session, recovery.run);
  const again = { ...intent, creates: true, reply };
  const row = reply === null ? null : rowIn(reply, again, kind);
  return row === null ? null : settleApplied(again, row, kind, recovery);
}

/** What a dry run shows of a write whose resource has no read. */
export type FoundByDryRun =
  | { readonly is: "unclear" }
  /** The ledger has it, so this write did not create it. */
  | { readonly is: "recorded" }
  | { readonly is: "created"; readonly id: string };

/** Asks a dry run whether a resource without a read exists since a write of it, whose token can be requested again. */
export async function findByDryRun(intent: PendingIntent, kind: Kind, recovery: Recovery): Promise<FoundByDryRun> {
  const { session, reading, run } = recovery;
  if (!mayReplayToken(intent, kind, recovery)) return { is: "unclear" };
  const answer = await reading.dryRun(kind, sentManifest(intent), reading);
  if (answer.state !== "answered" || !answer.row?.id) return { is: "unclear" };
  if (await isRecorded(intent.identity, answer.row, session.ledger)) return { is: "recorded" };
  const times = { now: run.clock.now(), serverNow: session.serverTime() };
  if (!intent.creates && !isCreatedSince(intent.at, answer.row, times)) return { is: "unclear" };
  return { is: "created", id: answer.row.id };
}

// A token may be replaced twice: the one before is valid until the end of its grace period.
async function recoverRotation(intent: PendingIntent, rotation: TokenRotation, recovery: Recovery): Promise<Recovered> {
  const kept = intent.reply === null ? null : tokenIn(intent.reply, intent.manifest);
  if (kept !== null) return delivered(intent, kept, recovery);
  const { sent, token } = await sendRotation(intent, rotation, recovery);
  if (token !== null) return delivered(intent, token, recovery);
  const isOpen = sent.state === "ambiguous" || sent.state === "not-sent";
  const message = `it is unknown whether ${intent.identity} has a new token that nobody has: run holdfast token reissue`;
  return { intent, effect: "applied", error: { code: "token-unrecovered", message }, token: null, isOpen };
}

// A request may still arrive until its deadline, so only a read after it can show that the write had no effect.
async function readBack(intent: PendingIntent, kind: Kind, recovery: Recovery): Promise<Live> {
  const first = await liveOf(intent, kind, recovery);
  const isApplied = verifyWrite(kind, intent, first).effect === "applied";
  const { session, isFenced, run } = recovery;
  const rest = intent.deadline - run.clock.now();
  // A proxy that strips the fencing header strips the idempotency key too, so honoured keys show that the header arrives.
  const cannotArrive = session.capabilities.honoursKeys && isFenced(intent);
  if (isApplied || rest <= 0 || cannotArrive) return first;
  const text = (): string => `an interrupted write of ${intent.identity} may still arrive`;
  const wait = { text, until: intent.deadline };
  await announceLongWait(run.clock.sleep(rest, { signal: run.signal }), wait, run);
  return liveOf(intent, kind, recovery);
}

/** Whether the one-time token of an intent can be requested again now. */
export function mayReplayToken(intent: PendingIntent, kind: Kind, { session, run }: Recovery): boolean {
  return canReplayToken(intent, kind, session.capabilities, run.clock.now());
}

/** Records a write that took effect, and delivers its one-time token where it is available. */
export async function settleApplied(
  intent: PendingIntent,
  row: WrittenRow,
  kind: Kind,
  recovery: Recovery,
): Promise<Recovered> {
  const { identity, manifest } = intent;
  if (intent.operation === "postModelVersion") recovery.session.capabilities.seenRegistering = true;
  await recovery.session.capabilities.save();
  const known = (await recovery.session.ledger.recorded([identity])).get(identity) ?? null;
  await recovery.session.ledger.record([
    createReceipt({ ...intent, kind, written: manifest }, row, {
      known,
      at: recovery.run.clock.now(),
    }),
  ]);
  const kept = intent.reply === null ? null : tokenIn(intent.reply, manifest);
  const token =
    kept ??
    (intent.creates && mayReplayToken(intent, kind, recovery)
      ? await replayForToken(intent, kind, recovery.session, recovery.run.signal)
      : null);
  if (token !== null) return delivered(intent, token, recovery);
  const isLost = intent.creates && kind.issuesToken?.(manifest) === true;
  const error = isLost ? lostToken(identity, intent.reply === null ? "reply" : "token") : null;
  return { intent, effect: "applied", error, token: null, isOpen: false };
}

async function delivered(intent: PendingIntent, token: Secret, { session: { sink } }: Recovery): Promise<Recovered> {
  try {
    if (sink === null) throw new Error("no sink is chosen");
    return {
      intent,
      effect: "applied",
      error: null,
      token: await sink.deliver(intent.identity, token),
      isOpen: false,
    };
  } catch (error) {
    const message = `the one-time token of ${intent.identity} is kept sealed in the ledger, since it could not be stored (${errorMessage(error)}); choose a writable sink (--sink file), and the next run delivers it`;
    return { intent, effect: "applied", error: { code: "token-undelivered", message }, token: null, isOpen: true };
  }
}

async function unknown(intent: PendingIntent, live: Live, kind: Kind, recovery: Recovery): Promise<Recovered> {
  const { identity, manifest } = intent;
  await expireReceipt(intent, recovery);
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
async function expireReceipt({ identity }: PendingIntent, { session: { ledger } }: Recovery): Promise<void> {
  const receipt = (await ledger.recorded([identity])).get(identity);
  if (receipt !== undefined) await ledger.record([{ ...receipt, at: 0 }]);
}
