import { setTimeout as wait } from "node:timers/promises";
import { operations } from "../contract/operations.ts";
import type { Secret } from "../contract/secret.ts";
import type { Shape } from "../contract/shape.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Kind, LiveRow } from "../core/kind.ts";
import type { Live } from "../core/live.ts";
import type { Identity } from "../core/manifest.ts";
import type { Recorded } from "../core/recorded.ts";
import { judge } from "./judge.ts";
import type { PendingIntent } from "./ledger.ts";
import { askAgain, mayAskAgain, type Sending } from "./send.ts";
import type { Sink } from "./sink.ts";
import { tokenIn } from "./token.ts";

/** What recovery needs of its surroundings. */
export type Recovery = Sending & {
  readonly sink: Sink | null;
  readonly kindOf: (type: string) => Kind | undefined;
  readonly shapeOf: (type: string) => Shape;
  readonly readLive: (intent: PendingIntent, kind: Kind) => Promise<Live>;
  readonly now: () => number;
};

/**
 * Finds out what became of the writes that an earlier run left open: those that live shows are recorded, those that
 * did not arrive and cannot arrive any more are dropped, the rest stays open and is reported.
 */
export async function recover(pending: readonly PendingIntent[], on: Recovery): Promise<readonly Diagnostic[]> {
  const reports = await Promise.all(pending.map((intent) => recoverOne(intent, on)));
  return reports.flat();
}

async function recoverOne(intent: PendingIntent, on: Recovery): Promise<readonly Diagnostic[]> {
  const kind = on.kindOf(intent.kind);
  if (kind === undefined) return [];
  const token = await deliverToken(intent, on);
  for (const isLast of [false, true]) {
    // Until its deadline a request may still arrive, so an absence counts only afterwards.
    if (isLast) await wait(Math.max(0, intent.deadline - on.now()), undefined, { signal: on.signal });
    const verdict = judge(kind, on.shapeOf(intent.kind), intent, await on.readLive(intent, kind));
    if (verdict.effect === "there") {
      const known = intent.creates ? await regained(intent, kind, token, on) : token;
      return settled(intent, verdict.row, { token: known, issuer: kind }, on);
    }
    if (verdict.effect === "unreadable") {
      return unreadable(intent, { token: await regained(intent, kind, token, on), issuer: kind }, on);
    }
  }
  if (token === "waiting") return [tokenWaits(intent.identity)];
  await on.ledger.close(intent.id, null);
  return [];
}

/** What became of the one-time token of a write that an earlier run left open. */
type TokenState = "none" | "delivered" | "waiting";

type Recovering = { readonly token: TokenState; readonly issuer: Kind };

async function settled(
  intent: PendingIntent,
  row: LiveRow,
  { token, issuer }: Recovering,
  { ledger, now }: Recovery,
): Promise<readonly Diagnostic[]> {
  const { identity, kind, written } = intent;
  const version = row.version ?? null;
  const receipt: Recorded = { identity, kind, id: row.id, written, echo: row.manifest, version, at: now() };
  if (token === "waiting") {
    await ledger.record([receipt]);
    return [tokenWaits(identity)];
  }
  await ledger.close(intent.id, receipt);
  const isLost = issuer.issuesToken?.(written) === true && intent.creates && token === "none";
  return isLost ? [tokenLost(identity, "was")] : [];
}

/** The diagnostic of a token that reached us and has nowhere to go. */
function tokenWaits(identity: Identity): Diagnostic {
  return {
    severity: "error",
    code: "token-undelivered",
    summary: `the one-time token of ${identity} waits, sealed, in the ledger: it could not be put away`,
    detail: "choose a sink that can be written (--sink file); the next run delivers it",
    file: null,
    line: null,
    column: null,
  };
}

/** The diagnostic of an account whose one-time token nobody holds. */
function tokenLost(identity: Identity, was: "was" | "may have been"): Diagnostic {
  return {
    severity: "error",
    code: "token-unrecovered",
    summary: `${identity} ${was} created by an interrupted run, and its one-time token was lost on the way`,
    detail: "use a new account name, or give it a secret_store_config",
    file: null,
    line: null,
    column: null,
  };
}

// Where live cannot be read, repeating an idempotent write is the cure, and the plan does so; the others stay open.
async function unreadable(
  intent: PendingIntent,
  { token, issuer }: Recovering,
  { ledger }: Recovery,
): Promise<readonly Diagnostic[]> {
  if (token === "waiting") return [tokenWaits(intent.identity)];
  if (operations[intent.operation].retry !== "version") {
    await ledger.close(intent.id, null);
    return token === "none" && issuer.issuesToken?.(intent.written)
      ? [tokenLost(intent.identity, "may have been")]
      : [];
  }
  return [
    {
      severity: "warning",
      code: "outcome-unknown",
      summary: `an earlier write of ${intent.identity} was interrupted, and whether it took effect cannot be read`,
      detail: "it is looked at again in the next run",
      file: null,
      line: null,
      column: null,
    },
  ];
}

/** A token that did not reach us is asked for again where the server makes a write with a key once. */
async function regained(intent: PendingIntent, kind: Kind, token: TokenState, on: Recovery): Promise<TokenState> {
  if (token !== "none" || !mayAskAgain(intent, kind, on)) return token;
  return deliver(intent, await askAgain(intent, on), on);
}

async function deliverToken(intent: PendingIntent, on: Recovery): Promise<TokenState> {
  return deliver(intent, intent.reply === null ? null : tokenIn(intent.reply, intent.written), on);
}

async function deliver(intent: PendingIntent, token: Secret | null, { sink }: Recovery): Promise<TokenState> {
  if (token === null) return "none";
  if (sink === null) return "waiting";
  return sink.deliver(intent.identity, token).then(
    () => "delivered",
    () => "waiting",
  );
}
