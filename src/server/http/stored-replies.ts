import { createHash } from "node:crypto";
import type { Kysely, Transaction } from "kysely";
import { canonical, isObject, type Json } from "../../contract/json.ts";
import type { Secret } from "../../contract/secret.ts";
import { conflict } from "../../http/http-error.ts";
import { deriveKey, type SealKey } from "../../seal/key.ts";
import { seal, sealedVersion, unseal } from "../../seal/seal.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import { exceedsBytes } from "./reply-size.ts";

const KEPT_MS = 24 * 60 * 60 * 1000;
// Every write with a key leaves one for a day.
const LARGEST_KEPT = 256 * 1024;

/** The place of one reply: the same key of another caller, or to another path, has nothing to do with it. */
export type ReplayKey = {
  readonly key: Secret;
  readonly keyHash: string;
  readonly principal: string;
  /** Method and path. */
  readonly request: string;
  /** What tells the body apart from another one. */
  readonly digest: string;
};

/** A reply as it was first given; without its text where that was too large to be kept. */
export type StoredReply = { readonly status: number; readonly text: string | null; readonly digest: string };

/** The slot of a request under a client's key. */
export function replayKey(key: Secret, principal: string, request: string, body: Json): ReplayKey {
  return { key, keyHash: sha256(key.open()), principal, request, digest: sha256(canonical(body)) };
}

type Row = Tables["kept_replies"];

const inSlot = preparedQuery(
  (database: Kysely<Tables>, { key_hash, principal, request }: Pick<Row, "key_hash" | "principal" | "request">) =>
    database
      .selectFrom("kept_replies")
      .select(["sealed", "kept_until"])
      .where("key_hash", "=", key_hash)
      .where("principal", "=", principal)
      .where("request", "=", request),
);

/** The reply that was kept in a slot, if there is one still. */
export async function findStoredReply(
  transaction: Transaction<Tables>,
  slot: ReplayKey,
  context: Pick<Context, "keys" | "now">,
): Promise<StoredReply | null> {
  const { keyHash: key_hash, principal, request } = slot;
  const [row] = await inSlot(transaction, { key_hash, principal, request });
  if (row === undefined || Number(row.kept_until) <= context.now()) return null;
  return openReply(slot, Buffer.from(row.sealed, "base64"), context.keys().all);
}

const keep = preparedQuery(
  (
    database: Kysely<Tables>,
    { key_hash, principal, request, sealed, kept_until, now }: Row & { readonly now: number },
  ) =>
    database
      .insertInto("kept_replies")
      .values({ key_hash, principal, request, sealed, kept_until })
      .onConflict((conflicting) =>
        conflicting
          .columns(["key_hash", "principal", "request"])
          .doUpdateSet({ sealed, kept_until })
          .where("kept_replies.kept_until", "<=", now),
      ),
);

/** Keeps a reply in a slot for a day, in the place of one whose day is over; of one that is too large, that there was one. */
export async function storeReply(
  transaction: Transaction<Tables>,
  slot: ReplayKey,
  { status, text }: { readonly status: number; readonly text: string },
  { keys, now }: Pick<Context, "keys" | "now">,
): Promise<void> {
  const { keyHash: key_hash, principal, request, digest } = slot;
  // The digest is inside: beside it, a body with a short secret in it could be guessed.
  const content = JSON.stringify({ status, digest, text: exceedsBytes(text, LARGEST_KEPT) ? null : text });
  const sealed = seal(replyKey(keys().newest, slot), content, associated(slot)).toString("base64");
  const at = now();
  await keep(transaction, { key_hash, principal, request, sealed, kept_until: at + KEPT_MS, now: at });
}

/** Forgets the replies whose day is over. */
export async function deleteExpiredReplies(database: Kysely<Tables>, now: number): Promise<void> {
  await database.deleteFrom("kept_replies").where("kept_until", "<=", now).execute();
}

function openReply(slot: ReplayKey, sealed: Buffer, keys: readonly SealKey[]): StoredReply {
  const version = sealedVersion(sealed);
  const key = keys.map((candidate) => replyKey(candidate, slot)).find((derived) => derived.version === version);
  // Its key follows from a key of the server that is gone: that there was an effect is all that can be said.
  if (key === undefined) throw conflict("reply-lost", "this key was used, and its reply can no longer be read");
  const content: unknown = JSON.parse(unseal(key, sealed, associated(slot)).toString("utf8"));
  if (isObject(content)) {
    const { status, text, digest } = content;
    if (typeof status === "number" && (typeof text === "string" || text === null) && typeof digest === "string")
      return { status, text, digest };
  }
  throw new TypeError("what was kept is not a reply");
}

// The database alone opens no reply, nor does the server's key: the client's is needed too.
function replyKey(key: SealKey, slot: ReplayKey): SealKey {
  return deriveKey(key, "kept reply", Buffer.from(slot.key.open()));
}

function associated({ principal, request }: ReplayKey): string {
  return `reply:${principal} ${request}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
