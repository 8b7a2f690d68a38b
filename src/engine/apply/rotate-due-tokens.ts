import { createHash } from "node:crypto";
import { ClientError } from "../../client/client-error.ts";
import { causeText } from "../../client/reachability.ts";
import type { Sent } from "../../client/writer.ts";
import { errorMessage } from "../../contract/error-message.ts";
import type { Secret } from "../../contract/secret.ts";
import type { Kind, ScheduledToken, TokenRotation } from "../../core/kind.ts";
import type { Identity } from "../../core/manifest.ts";
import { runWarning } from "../../core/run-warning.ts";
import { kindsByType } from "../../kinds/index.ts";
import type { Intent, Ledger } from "../../state/ledger.ts";
import type { Run } from "../run.ts";
import type { ServerSession } from "../session.ts";
import type { Sink } from "../token-sink.ts";
import { tokenIn } from "./stored-reply.ts";

/** How long before its schedule a token is replaced: a daemon that was away for some hours is not late. */
const LEAD_MS = 24 * 3_600_000;
/** How often the schedules are read. */
const READ_EVERY_MS = 3_600_000;

/** A token that is to be replaced now. */
export type DueToken = ScheduledToken & {
  readonly kind: Kind;
  readonly rotation: TokenRotation;
  readonly identity: Identity;
};

/** A token that was replaced, and where the new one is. */
export type RotatedToken = { readonly identity: Identity; readonly location: string };

type Rotating = { readonly session: ServerSession; readonly run: Run };

const readAt = new WeakMap<Ledger, number>();

/**
 * The declared resources whose tokens are to be replaced. Schedules are read every hour; none are without a sink, or where no
 * declared kind has any.
 */
export async function dueTokens(
  declared: ReadonlySet<Identity>,
  { session, run }: Rotating,
): Promise<readonly DueToken[]> {
  const { ledger, sink } = session;
  const last = readAt.get(ledger);
  if (sink === null || (last !== undefined && run.clock.monotonic() - last < READ_EVERY_MS)) return [];
  readAt.set(ledger, run.clock.monotonic());
  const due: DueToken[] = [];
  for (const kind of kindsByType.values()) due.push(...(await dueOfKind(kind, declared, { session, run })));
  return due;
}

async function dueOfKind(kind: Kind, declared: ReadonlySet<Identity>, { session, run }: Rotating): Promise<DueToken[]> {
  const { rotation, type } = kind;
  if (rotation === undefined || session.capabilities.support(rotation.list) === "no") return [];
  if (!declared.values().some((identity) => identity.startsWith(`${type}/`))) return [];
  const rows = await rowsOf(rotation, { session, run });
  const now = session.serverTime() ?? run.clock.now();
  const due = rows.flatMap((row): DueToken[] => {
    const token = rotation.row(row as never);
    if (token === null || token.dueAt - LEAD_MS > now) return [];
    const identity: Identity = `${type}/${token.key}`;
    return declared.has(identity) ? [{ ...token, kind, rotation, identity }] : [];
  });
  if (due.length === 0 || session.capabilities.support(rotation.operation) !== "no") return due;
  return [];
}

// Whoever may not read the list rotates nothing; a pass does not fail for it.
async function rowsOf({ list }: TokenRotation, { session, run }: Rotating): Promise<readonly unknown[]> {
  try {
    return await session.reader.list(list, {}, { signal: run.stopping });
  } catch (error) {
    if (error instanceof ClientError) return [];
    throw error;
  }
}

/**
 * Replaces tokens: each reply is sealed in the journal before it is read, and its entry stays there until the sink has the token.
 * What cannot be replaced now is a warning, and is tried again.
 */
export async function rotateDueTokens(due: readonly DueToken[], rotating: Rotating): Promise<readonly RotatedToken[]> {
  const rotated: RotatedToken[] = [];
  for (const token of due) {
    if (rotating.run.stopping.aborted) break;
    const location = await rotateOne(token, rotating);
    if (location !== null) rotated.push({ identity: token.identity, location });
  }
  // The next pass tries the others again.
  if (rotated.length < due.length) readAt.delete(rotating.session.ledger);
  return rotated;
}

async function rotateOne(
  { kind, rotation, identity, tokenId, manifest }: DueToken,
  rotating: Rotating,
): Promise<string | null> {
  const { session, run } = rotating;
  const { sink, ledger } = session;
  if (sink === null) return null;
  try {
    await sink.check(identity);
  } catch (error) {
    return warn(identity, `nothing was sent, since the new one could not be stored: ${errorMessage(error)}`, run);
  }
  const intent: Intent = {
    id: run.random.id(),
    identity,
    kind: kind.type,
    operation: rotation.operation,
    manifest,
    ignored: [],
    versionBefore: null,
    creates: false,
    at: run.clock.now(),
    deadline: run.clock.now(),
    // Whoever else replaces this token asks with the same key, and gets the same one.
    key: createHash("sha256").update(`rotate ${identity} ${tokenId}`).digest("hex"),
  };
  await ledger.begin(intent);
  const { sent, token } = await sendRotation(intent, rotation, rotating);
  if (token === null) {
    // Where the outcome is unknown, the entry stays: the next run asks again with its key.
    if (sent.state !== "ambiguous") await ledger.close(intent.id, null);
    return warn(identity, whyNot(sent), run);
  }
  return deliverRotated(intent, token, { sink, ledger, run });
}

async function deliverRotated(
  { id, identity }: Intent,
  token: Secret,
  { sink, ledger, run }: { readonly sink: Sink; readonly ledger: Ledger; readonly run: Run },
): Promise<string | null> {
  try {
    const location = await sink.deliver(identity, token);
    await ledger.close(id, null);
    return location;
  } catch (error) {
    return warn(
      identity,
      `the new one is kept sealed in the ledger, since it could not be stored (${errorMessage(error)})`,
      run,
    );
  }
}

function whyNot(sent: Sent): string {
  switch (sent.state) {
    case "applied":
      return "the reply has no token";
    case "refused":
      return sent.reason === "route-missing"
        ? "this control plane lacks the extension that replaces tokens"
        : `the control plane refused it${sent.status === 403 ? ": only tenant-admins may" : ""}`;
    default:
      return `${causeText(sent.cause)}; the next pass asks again`;
  }
}

function warn(identity: Identity, why: string, { emit }: Run): null {
  const summary = `the token of ${identity} was not replaced: ${why}`;
  emit({ what: "warned", warnings: [runWarning("not-rotated", summary, "the former token stays valid")] });
  return null;
}

/** Asks for a new token, or with the key of an earlier request for the same one again. */
export async function sendRotation(
  { id, identity, manifest, key, operation }: Intent,
  { path }: TokenRotation,
  { session: { writer, ledger, capabilities }, run }: Rotating,
): Promise<{ readonly sent: Sent; readonly token: Secret | null }> {
  let reply: Uint8Array | null = null;
  const onReply = async (bytes: Uint8Array): Promise<void> => {
    await ledger.keepReply(id, bytes);
    reply = bytes;
  };
  const content = {
    path: path(identity.slice(identity.indexOf("/") + 1)),
    ...(key === null ? {} : { idempotencyKey: key }),
    onReply,
  };
  const sent = await writer.send(operation, content, { signal: run.signal });
  await capabilities.save();
  if (sent.state === "applied") return { sent, token: sent.token };
  return { sent, token: reply === null ? null : tokenIn(reply, manifest) };
}
