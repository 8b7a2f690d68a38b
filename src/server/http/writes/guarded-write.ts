// src/server/http/writes: writes that happen once. See docs/control-plane.md#idempotency-keys.

import { type Kysely, sql, type Transaction } from "kysely";
import { isObject, type JsonObject } from "../../../contract/json.ts";
import { fillPath, operation } from "../../../contract/operations.ts";
import { errorBody, HttpError } from "../../../http/http-error.ts";
import { rollBackTo } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { checkFencingToken } from "../../resources/lease/rows.ts";
import { rootScope, type ScopePath, scopePath } from "../../resources/lease/scope.ts";
import type { OperationRequest, ServedOperation } from "../define-operation.ts";
import { findStoredReply, type ReplayKey, requestKeyOf, storeReply } from "./stored-replies.ts";
import type { FencingToken, WriteHeaders } from "./write-headers.ts";

/** The reply to a request as JSON text in pieces; `isReplay` when it is a stored one. */
export type OperationReply = {
  readonly status: number;
  readonly pieces: readonly string[];
  readonly isReplay: boolean;
};

/**
 * Executes each write with an idempotency key once, and refuses writers with a stale fencing token. The reply is stored in
 * the transaction of the effect. When several replies apply, a refusal of the write itself comes first, then the stored
 * reply, then the refusal of the fencing token.
 */
export function createGuardedWrite(): (
  served: ServedOperation,
  request: OperationRequest,
  headers: WriteHeaders,
  context: Context,
) => Promise<OperationReply> {
  const inFlight = new Set<string>();
  return async (served, request, headers, context) => {
    const { key, fence } = headers;
    const replayKey =
      key === null
        ? null
        : requestKeyOf(key, request.principal.name, requestLineOf(served, request), request.body ?? null);
    const write: Write = { served, request, replayKey, fence };
    using _ = replayKey === null ? null : markInFlight(inFlight, replayKey);
    try {
      return await runInTransaction(write, context);
    } catch (error) {
      if (error instanceof HttpError && replayKey !== null) await storeRefusal(error, replayKey, context);
      throw error;
    }
  };
}

type Write = {
  readonly replayKey: ReplayKey | null;
  readonly served: ServedOperation;
  readonly request: OperationRequest;
  readonly fence: FencingToken | null;
};

async function runInTransaction(write: Write, context: Context): Promise<OperationReply> {
  const { served, request, replayKey, fence } = write;
  let advanceTimes: readonly number[] = [];
  const reply = await context.store.write(async (transaction) => {
    advanceTimes = [];
    // Within this context `store.read` is the open transaction, so a write sees its own changes before they are committed.
    const within: Context = {
      ...context,
      store: { ...context.store, read: transaction, write: (change) => change(transaction) },
      // Called after the commit.
      scheduleAdvance: (moment) => {
        advanceTimes = [...advanceTimes, moment];
      },
      ...(context.call !== undefined && {
        call: { ...context.call, keyHash: replayKey?.keyHash ?? null, fencingNumber: fence?.number ?? null },
      }),
    };
    const replayed = replayKey === null ? null : await replay(transaction, replayKey, write, within);
    if (replayed !== null) return replayed;
    if (fence !== null) await requireCurrentFence(transaction, fence, write, within);
    const pieces = await served.run(request, within);
    if (replayKey !== null) await storeReply(transaction, replayKey, { status: 200, text: pieces.join("") }, context);
    return { status: 200, pieces, isReplay: false };
  });
  for (const moment of advanceTimes) context.scheduleAdvance(moment);
  return reply;
}

async function replay(
  transaction: Transaction<Tables>,
  replayKey: ReplayKey,
  write: Write,
  within: Context,
): Promise<OperationReply | null> {
  const stored = await findStoredReply(transaction, replayKey, within);
  if (stored === null) return null;
  const { status, text } = stored;
  // A caller that has lost the right to do this gets the refusal, not the stored reply.
  const refusal = await refusalOfWrite(transaction, write, within);
  if (refusal !== null && overrides(refusal, status)) throw refusal;
  if (stored.digest !== replayKey.digest) throw keyReused();
  if (text === null) throw replyNotStored(status);
  return { status, pieces: [text], isReplay: true };
}

function overrides({ status }: HttpError, stored: number): boolean {
  return status === 403 || (stored < 300 && (status === 404 || status === 422));
}

async function requireCurrentFence(
  transaction: Transaction<Tables>,
  fence: NonNullable<WriteHeaders["fence"]>,
  write: Write,
  within: Context,
): Promise<void> {
  const written = await writtenScope(write.served, write.request, transaction);
  const fault = await checkFencingToken(transaction, fence, { written, isShared: within.store.isShared });
  if (fault === null) return;
  const refusal = await refusalOfWrite(transaction, write, within);
  if (refusal !== null && refusal.status !== 409) throw refusal;
  throw new HttpError(412, `${fault}-fencing-token`, tokenMessages[fault]);
}

const tokenMessages = {
  stale: "a newer lease was issued for this: the fencing token is stale",
  unknown: "no lease of this scope has this fencing token",
} as const;

class ChecksPassed extends Error {
  override readonly name = "ChecksPassed";
}

/** The refusal that the write would get now; everything is rolled back. */
async function refusalOfWrite(
  transaction: Transaction<Tables>,
  { served, request }: Write,
  within: Context,
): Promise<HttpError | null> {
  await sql`SAVEPOINT probe`.execute(transaction);
  let failure: unknown;
  try {
    await served.run(request, {
      ...within,
      store: {
        ...within.store,
        // Handlers undo other effects than queries when this throws.
        write: async (change) => {
          await change(transaction);
          throw new ChecksPassed();
        },
      },
      scheduleAdvance: () => {},
      ...(within.call !== undefined && { call: { ...within.call, isProbe: true } }),
    });
    return null;
  } catch (error) {
    if (error instanceof HttpError) return error;
    if (error instanceof ChecksPassed) return null;
    failure = error;
    throw error;
  } finally {
    await rollBackTo(transaction, "probe", failure);
    await sql`RELEASE SAVEPOINT probe`.execute(transaction);
  }
}

// These depend on the moment, not on the request: a retry may succeed.
const transientStatuses: readonly number[] = [401, 403, 409, 412, 429];

/** Stores the refusal of a write under its key. */
async function storeRefusal(refusal: HttpError, replayKey: ReplayKey, context: Context): Promise<void> {
  if (transientStatuses.includes(refusal.status) || refusal.status >= 500 || refusal.code === REUSED) return;
  const reply = { status: refusal.status, text: JSON.stringify(errorBody(refusal)) };
  await context.store.write((transaction) => storeReply(transaction, replayKey, reply, context));
}

const REUSED = "idempotency-key-reused";

function keyReused(): HttpError {
  return new HttpError(422, REUSED, "this Idempotency-Key was used for another body");
}

function replyNotStored(status: number): HttpError {
  const message = `this was answered ${status}, but the reply was too large to store: read the resource instead`;
  return new HttpError(409, "reply-not-kept", message);
}

function markInFlight(inFlight: Set<string>, { keyHash, principal, request }: ReplayKey): Disposable {
  const id = JSON.stringify([keyHash, principal, request]);
  if (inFlight.has(id)) {
    const headers = { "retry-after": "1" };
    throw new HttpError(409, "idempotency-key-in-flight", "a request with this Idempotency-Key is in flight", {
      headers,
    });
  }
  inFlight.add(id);
  return { [Symbol.dispose]: () => inFlight.delete(id) };
}

function requestLineOf({ name }: ServedOperation, { path }: OperationRequest): string {
  const { method, path: template } = operation(name);
  return `${method} ${fillPath(template, path)}`;
}

/**
 * The smallest scope that covers a write, as its operation determines it; else the root scope. For a request that names
 * no resource it does not matter, since it is refused.
 */
async function writtenScope(
  { description }: ServedOperation,
  { body, path }: OperationRequest,
  database: Kysely<Tables>,
): Promise<ScopePath> {
  const members = isObject(body) ? body : {};
  const manifest: JsonObject = isObject(members.manifest) ? members.manifest : {};
  const scope = await description.scope?.({ members, manifest, path }, database);
  return typeof scope === "string" ? scopePath(scope) : rootScope;
}
