import type { ServerCapabilities } from "../../client/server-capabilities.ts";
import type { Sent } from "../../client/writer.ts";
import { operations } from "../../contract/operations.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Kind } from "../../core/kind.ts";
import { maskQuotations } from "../../core/redact/mask-quotations.ts";
import type { Intent } from "../../state/ledger.ts";
import type { ServerSession } from "../session.ts";
import type { JournalEntry } from "./journal-entry.ts";
import { tokenIn } from "./stored-reply.ts";

// The control plane drops a key after a day; the margin is for clock skew.
const KEY_LIFETIME_MS = 23 * 60 * 60 * 1000;

/**
 * Sends a journaled write with its key; a reply that may carry a one-time token is stored before it is parsed. Without
 * `entry`, it only asks for the stored reply of a write that was made.
 */
export async function sendIntent(
  { id, operation, manifest, key, identity }: Intent,
  { startsRun, writeRoutes }: Kind,
  { ledger, writer, capabilities, values }: ServerSession,
  { signal, entry }: { readonly signal: AbortSignal; readonly entry?: JournalEntry },
): Promise<{ readonly sent: Sent; readonly reply: Uint8Array | null }> {
  // After a crash these facts decide what recovery may do, for example whether a reply can be requested again.
  await capabilities.save();
  let reply: Uint8Array | null = null;
  const onReply = async (bytes: Uint8Array): Promise<void> => {
    await ledger.keepReply(id, bytes);
    reply = bytes;
  };
  const body = writeRoutes.find((route) => route.operation === operation)?.body;
  const opened: Secret[] = [];
  const open = (standIn: string): Secret | null => {
    const value = values.open(identity, standIn);
    if (value !== null) opened.push(value);
    return value;
  };
  const sent = await writer.send(
    operation,
    {
      body: body?.(manifest, open) ?? { manifest, ...(startsRun?.(manifest) ? { triggerOnDeploy: true } : {}) },
      ...(key === null ? {} : { idempotencyKey: key }),
      ...(operations[operation].retry === "token" ? { onReply } : {}),
      ...(entry === undefined ? {} : { right: entry.right, onSent: entry.onSent }),
    },
    { signal },
  );
  await capabilities.save();
  return { sent: withoutValues(sent, opened), reply };
}

// A server may quote what it refuses.
function withoutValues(sent: Sent, opened: readonly Secret[]): Sent {
  if (sent.state !== "refused" || opened.length === 0) return sent;
  const secrets = new Set(opened.map((value) => value.open()));
  return { ...sent, message: maskQuotations(sent.message, secrets) };
}

/** Whether the one-time token of an intent can be requested again: its idempotency key makes the write happen once. */
export function canReplayToken(
  { key, deadline, manifest }: Intent,
  { issuesToken }: Kind,
  { honoursKeys }: ServerCapabilities,
  now: number,
): boolean {
  return key !== null && honoursKeys && now < deadline + KEY_LIFETIME_MS && issuesToken?.(manifest) === true;
}

/** Requests the reply of an intent again for its one-time token; null when the reply has none. */
export async function replayForToken(
  intent: Intent,
  kind: Kind,
  session: ServerSession,
  signal: AbortSignal,
): Promise<Secret | null> {
  const { sent, reply } = await sendIntent(intent, kind, session, { signal });
  if (sent.state === "applied") return sent.token;
  return reply === null ? null : tokenIn(reply, intent.manifest);
}
