import type { InterruptedWrite } from "../../contract/generated/output.ts";
import { equal, type JsonObject } from "../../contract/json.ts";
import type { Kind } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { type Step, writes } from "../../core/plan/plan.ts";
import type { Recorded } from "../../core/recorded.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { kindOf } from "../../kinds/index.ts";
import { isParsed } from "../../manifests/source-manifest.ts";
import type { PendingIntent, ReceiptHead } from "../../state/ledger.ts";
import type { Records } from "../observe.ts";
import type { LivePlan } from "../plan.ts";
import { createReceipt, type WrittenRow } from "./receipt.ts";
import { findByDryRun, findWriteEffect, liveOf, mayReplayToken, type Recovery } from "./recover.ts";
import { rowIn, tokenIn } from "./stored-reply.ts";

/** What an apply will find of an open write, as live shows it now. */
export type ForeseenWrite = Pick<InterruptedWrite, "found" | "token"> & {
  readonly intent: PendingIntent;
  /** The receipt that it has then; null for none. */
  readonly receipt: Recorded | null;
};

/** Determines what an apply will find of the open writes of an earlier run; sends, records and waits for nothing. */
export async function foreseeRecovery(
  pending: readonly PendingIntent[],
  recovery: Recovery,
): Promise<readonly ForeseenWrite[]> {
  const known = await recovery.session.ledger.recorded(pending.map(({ identity }) => identity));
  const found = await Promise.all(
    pending.map((intent) => foresee(intent, known.get(intent.identity) ?? null, recovery)),
  );
  return found.filter((one) => one !== null);
}

async function foresee(
  intent: PendingIntent,
  known: Recorded | null,
  recovery: Recovery,
): Promise<ForeseenWrite | null> {
  const kind = kindOf(intent.kind);
  if (kind === undefined) return null;
  const stored = intent.reply === null ? null : rowIn(intent.reply, intent, kind);
  if (stored !== null) return made(intent, stored, kind, { known, recovery });
  const live = await liveOf(intent, kind, recovery);
  const evidence = await findWriteEffect(intent, kind, live, recovery);
  if (evidence.effect === "applied") return made(intent, evidence.row, kind, { known, recovery });
  if (evidence.effect === "not-applied") return { intent, found: "not-made", token: null, receipt: known };
  const hasToken = kind.issuesToken?.(intent.manifest) === true;
  const unclear = (mayHaveToken: boolean): ForeseenWrite => {
    return { intent, found: "unknown", token: mayHaveToken && hasToken ? "lost" : null, receipt: expired(known) };
  };
  if (live.state !== "unknown") return unclear(intent.creates);
  if (live.reason !== "no-read") return unclear(false);
  const byDryRun = await findByDryRun(intent, kind, recovery);
  if (byDryRun.is !== "created") return unclear(byDryRun.is === "unclear");
  return made({ ...intent, creates: true }, { id: byDryRun.id, manifest: null }, kind, { known, recovery });
}

function made(
  intent: PendingIntent,
  row: WrittenRow,
  kind: Kind,
  { known, recovery }: { readonly known: Recorded | null; readonly recovery: Recovery },
): ForeseenWrite {
  const { manifest, creates, reply } = intent;
  const sent = { ...intent, kind, written: manifest };
  const receipt = createReceipt(sent, row, { known, at: recovery.run.clock.now() });
  const hasToken = reply !== null && tokenIn(reply, manifest) !== null;
  const isDelivered = hasToken || (creates && mayReplayToken(intent, kind, recovery));
  const isLost = !isDelivered && creates && kind.issuesToken?.(manifest) === true;
  return { intent, found: "made", token: isDelivered ? "delivered" : isLost ? "lost" : null, receipt };
}

// As after a recovery: the last write is no longer known.
function expired(known: Recorded | null): Recorded | null {
  return known === null ? null : { ...known, at: 0 };
}

/** The records as an apply will have them once it has settled the open writes. */
export function recordsAfter(foreseen: readonly ForeseenWrite[], { heads, ledger }: Records): Records {
  const receipts = new Map<Identity, Recorded>(
    foreseen.flatMap(({ receipt }) => (receipt === null ? [] : [[receipt.identity, receipt]])),
  );
  const recorded: Records["ledger"]["recorded"] = async (identities) => {
    const wanted = identities === undefined ? null : new Set(identities);
    const stored = await ledger.recorded(wanted ?? undefined);
    return new Map([...stored, ...[...receipts].filter(([identity]) => wanted?.has(identity) ?? true)]);
  };
  return {
    heads: new Map<Identity, ReceiptHead>([...heads, ...receipts]),
    ledger: { digest: (...content) => ledger.digest(...content), recorded },
  };
}

/** What an apply of this plan does about each open write. */
export function interruptedWrites(
  foreseen: readonly ForeseenWrite[],
  { plan, waved, desired: { declared } }: LivePlan,
  now: number,
): readonly InterruptedWrite[] {
  const steps = new Map(plan.steps.map((step) => [step.identity, step]));
  // A manifest is read where its resource differs.
  const wanted = new Map(
    waved.map(({ manifest }) => [manifest.identity, isParsed(manifest) ? manifest.value : undefined]),
  );
  return foreseen.map((one): InterruptedWrite => {
    const { intent, found, token } = one;
    const { identity, deadline } = intent;
    const isKept = declared.has(identity) && !wanted.has(identity);
    const seen = { step: steps.get(identity), value: wanted.get(identity), isKept };
    const arrivesUntil = found === "made" || now >= deadline ? null : timestampText(deadline);
    return { identity, found, next: nextOf(one, seen), token, arrivesUntil };
  });
}

type Seen = {
  readonly step: Step | undefined;
  readonly value: JsonObject | undefined;
  /** Whether its manifest is not selected. */
  readonly isKept: boolean;
};

function nextOf({ intent, found }: ForeseenWrite, { step, value, isKept }: Seen): InterruptedWrite["next"] {
  if (found === "made") return "record";
  const isSent = step !== undefined && writes(step);
  if (found === "unknown") return isSent && equal(intent.manifest, value) ? "send" : "report";
  if (isSent) return "send";
  return isKept ? "keep" : "close";
}
