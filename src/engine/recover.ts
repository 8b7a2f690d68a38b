import { setTimeout as wait } from "node:timers/promises";
import { isObject } from "../contract/json.ts";
import { Secret } from "../contract/secret.ts";
import type { Shape } from "../contract/shape.ts";
import type { Diagnostic } from "../core/diagnostic.ts";
import type { Kind, LiveRow } from "../core/kind.ts";
import type { Live } from "../core/live.ts";
import type { Identity } from "../core/manifest.ts";
import { judge } from "./judge.ts";
import type { Ledger, PendingIntent } from "./ledger.ts";
import type { Sink } from "./sink.ts";

/** What recovery needs of its surroundings. */
export type Recovery = {
  readonly ledger: Ledger;
  readonly sink: Sink | null;
  readonly kindOf: (type: string) => Kind | undefined;
  readonly shapeOf: (type: string) => Shape;
  readonly readLive: (intent: PendingIntent, kind: Kind) => Promise<Live>;
  readonly now: () => number;
  readonly signal: AbortSignal;
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
  if (intent.reply !== null) await deliverSealed(intent, intent.reply, on);
  for (const isLast of [false, true]) {
    // Until its deadline a request may still arrive, so an absence counts only afterwards.
    if (isLast) await wait(Math.max(0, intent.deadline - on.now()), undefined, { signal: on.signal });
    const verdict = judge(kind, on.shapeOf(intent.kind), intent, await on.readLive(intent, kind));
    if (verdict.effect === "there") return settled(intent, verdict.row, kind, on);
    if (verdict.effect === "unreadable") return unreadable(intent, kind, on);
  }
  await on.ledger.close(intent.id, null);
  return [];
}

async function settled(
  intent: PendingIntent,
  row: LiveRow,
  issuer: Kind,
  { ledger, now }: Recovery,
): Promise<readonly Diagnostic[]> {
  const { identity, kind, written } = intent;
  await ledger.close(intent.id, {
    identity,
    kind,
    id: row.id,
    written,
    echo: row.manifest,
    version: row.version ?? null,
    at: now(),
  });
  const isLost = issuer.issuesToken?.(written) === true && intent.creates && intent.reply === null;
  return isLost ? [tokenLost(identity)] : [];
}

/** The diagnostic of an account that is live, and whose one-time token nobody holds. */
function tokenLost(identity: Identity): Diagnostic {
  return {
    severity: "error",
    code: "token-unrecovered",
    summary: `${identity} was created by an interrupted run, and its one-time token was lost on the way`,
    detail: "use a new account name, or give it a secret_store_config",
    file: null,
    line: null,
    column: null,
  };
}

// Where live cannot be read, repeating an idempotent write is the cure, and the plan does so; the others stay open.
async function unreadable(intent: PendingIntent, kind: Kind, { ledger }: Recovery): Promise<readonly Diagnostic[]> {
  if (kind.versions === undefined && kind.rollsOut === undefined) {
    await ledger.close(intent.id, null);
    return [];
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

async function deliverSealed(intent: PendingIntent, reply: Uint8Array, { sink }: Recovery): Promise<void> {
  const token = tokenIn(reply);
  if (sink !== null && token !== null) await sink.deliver(intent.identity, token);
}

function tokenIn(reply: Uint8Array): Secret | null {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(reply));
    return isObject(body) && typeof body.token === "string" ? new Secret(body.token) : null;
  } catch {
    return null;
  }
}
