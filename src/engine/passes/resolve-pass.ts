import { operations } from "../../contract/operations.ts";
import { hasContentOf } from "../../core/diff/compared-content.ts";
import { HoldfastError } from "../../core/errors.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import { type Kind, writerIn } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import type { Identity } from "../../core/manifest.ts";
import type { ResolvedEvent } from "../../core/report/events.ts";
import type { OpenWrite, ResolveReport } from "../../core/report/report.ts";
import { timestampText } from "../../core/timestamp-text.ts";
import { kindOf } from "../../kinds/index.ts";
import type { PendingIntent } from "../../state/ledger.ts";
import type { WrittenRow } from "../apply/receipt.ts";
import { findWriteEffect, liveOf, type Recovery, settleApplied, startRecovery } from "../apply/recover.ts";
import type { WriteEffect } from "../apply/verify-write.ts";
import type { Pass } from "../pass.ts";

/** A pass that closes writes with an unknown outcome as a user decides. */
export type ResolveMode = {
  readonly is: "resolve";
  /** The resources whose open writes are resolved; empty for all open writes. */
  readonly identities: readonly Identity[];
  /** The outcome to close them with; null only to show them. */
  readonly as: "applied" | "refused" | null;
  /** Called with the evidence before any write is closed. */
  readonly confirm: (report: ResolveReport) => Promise<boolean>;
};

type Found = {
  readonly intent: PendingIntent;
  readonly kind: Kind;
  readonly live: Live;
  readonly evidence: WriteEffect;
};

/** Shows what the journal and live say about open writes, and closes them where the mode requests it. */
export async function resolvePass(
  { connection: { session }, read: { rules }, run }: Pass,
  { identities, as, confirm }: ResolveMode,
): Promise<ResolvedEvent | { readonly what: "declined" }> {
  const recovery = await startRecovery(session, rules.concurrency, run);
  const pending = chosen(await session.ledger.pending(), identities);
  const found = await Promise.all(pending.map((intent) => find(intent, recovery)));
  const shown = reportOf(session.server, null, found.map(openWrite));
  if (as === null) return { what: "resolved", report: shown };
  for (const one of found) requireAgreement(one, as, run.clock.now());
  if (!(await confirm(shown))) return { what: "declined" };
  const closed: OpenWrite[] = [];
  for (const one of found) closed.push(await close(one, as, recovery));
  return { what: "resolved", report: reportOf(session.server, as, closed) };
}

function chosen(pending: readonly PendingIntent[], identities: readonly Identity[]): readonly PendingIntent[] {
  const missing = identities.find((identity) => !pending.some((intent) => intent.identity === identity));
  if (missing !== undefined) {
    throw new HoldfastError("invalid", `there is no open write of ${missing}`, {
      hint: "holdfast resolve lists the open writes; for an unknown outcome without an open write, plan shows what is live",
    });
  }
  return identities.length === 0 ? pending : pending.filter(({ identity }) => identities.includes(identity));
}

async function find(intent: PendingIntent, recovery: Recovery): Promise<Found> {
  const kind = kindOf(intent.kind);
  if (kind === undefined) throw new HoldfastError("error", `this release has no kind ${intent.kind}`);
  const live = await liveOf(intent, kind, recovery);
  return { intent, kind, live, evidence: await findWriteEffect(intent, kind, live, recovery) };
}

// A user decides only where live does not: a decision against live would create a resource twice, or record one that does
// not exist.
function requireAgreement({ intent, evidence }: Found, as: "applied" | "refused", now: number): void {
  const { identity, deadline } = intent;
  if (as === "applied" && evidence.effect === "not-applied") {
    throw new HoldfastError("refused", `live shows that the write of ${identity} did not take effect`, {
      hint: `nothing was closed: holdfast resolve ${identity} --as refused`,
    });
  }
  if (as === "refused" && evidence.effect === "applied") {
    throw new HoldfastError("refused", `live shows that the write of ${identity} took effect`, {
      hint: `nothing was closed: holdfast resolve ${identity} --as applied`,
    });
  }
  if (as === "refused" && now < deadline) {
    throw new HoldfastError("refused", `the write of ${identity} may still arrive`, {
      hint: `nothing was closed: run it again after ${timestampText(deadline)}`,
    });
  }
}

async function close(found: Found, as: "applied" | "refused", recovery: Recovery): Promise<OpenWrite> {
  const { intent, kind, live, evidence } = found;
  const shown = openWrite(found);
  if (as === "refused") {
    await recovery.session.ledger.close(intent.id, null);
    return shown;
  }
  const row = evidence.effect === "applied" ? evidence.row : await unseenRow(intent, live, recovery);
  const { token, error, isOpen } = await settleApplied(intent, row, kind, recovery);
  if (isOpen) throw new HoldfastError("error", error?.message ?? "the one-time token could not be stored");
  await recovery.session.ledger.close(intent.id, null);
  return { ...shown, token, lost: error?.message ?? null };
}

// Content that another writer wrote since, or that cannot be read, does not show what this write created.
async function unseenRow(
  { identity }: PendingIntent,
  live: Live,
  { session: { ledger } }: Recovery,
): Promise<WrittenRow> {
  if (live.state === "present") return { id: live.row.id, manifest: null };
  return { id: (await ledger.recorded([identity])).get(identity)?.id ?? null, manifest: null };
}

// The words of the JSON report.
const evidenceWord: { readonly [effect in WriteEffect["effect"]]: OpenWrite["evidence"] } = {
  applied: "applied",
  "not-applied": "refused",
  superseded: "unclear",
  unreadable: "unclear",
};

function openWrite({ intent, kind, live, evidence: { effect } }: Found): OpenWrite {
  const { identity, operation, at, deadline, creates, versionBefore, reply, manifest } = intent;
  const { method, path } = operations[operation];
  const row = live.state === "present" ? live.row : null;
  return {
    identity,
    kind: intent.kind,
    operation: `${method} ${path}`,
    sentAt: at === null ? null : timestampText(at),
    arrivesUntil: timestampText(deadline),
    creates,
    versionBefore,
    hasReply: reply !== null,
    live: {
      state: live.state,
      version: row?.version ?? null,
      changedBy: (row && writerIn(row))?.changedBy ?? null,
      hasContent: row && hasContentOf(kind, manifest, row.manifest),
    },
    evidence: evidenceWord[effect],
    token: null,
    lost: null,
  };
}

function reportOf(
  server: string,
  resolvedAs: ResolveReport["resolvedAs"],
  writes: readonly OpenWrite[],
): ResolveReport {
  return { format_version: FORMAT_VERSION, server, resolvedAs, writes, diagnostics: [] };
}
