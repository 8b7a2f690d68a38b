import { createHash } from "node:crypto";
import type { Kysely, Transaction } from "kysely";
import { canonical, isObject, type Json } from "../../../contract/json.ts";
import type { Secret } from "../../../contract/secret.ts";
import { conflict } from "../../../http/http-error.ts";
import { sealedVersion, sealText, unseal } from "../../../seal/seal.ts";
import { deriveKey, type SealKey } from "../../../seal/seal-key.ts";
import { preparedQuery } from "../../../store/prepared-query.ts";
import type { Context } from "../../context.ts";
import type { Tables } from "../../database/tables.ts";
import { exceedsBytes } from "../reply-size.ts";

const MAX_AGE_MS = 24 * 60 * 60 * 1000;
// Every write with a key stores one for a day.
const MAX_BYTES = 256 * 1024;

/** Identifies a stored reply: keys are separate for each caller and path. */
export type ReplayKey = {
  readonly key: Secret;
  readonly keyHash: string;
  readonly principal: string;
  /** Method and path. */
  readonly request: string;
  /** Digest of the request body. */
  readonly digest: string;
};

/** The first reply to a request; its text is null when it was too large to store. */
export type StoredReply = { readonly status: number; readonly text: string | null; readonly digest: string };

/** The replay key of a request with a client's key. */
export function requestKeyOf(key: Secret, principal: string, request: string, body: Json): ReplayKey {
  return { key, keyHash: sha256(key.open()), principal, request, digest: sha256(canonical(body)) };
}

type Row = Tables["kept_replies"];

const selectReply = preparedQuery(
  (
    database: Kysely<Tables>,
    { key_hash, principal, request }: { readonly [column in "key_hash" | "principal" | "request"]: string },
  ) =>
    database
      .selectFrom("kept_replies")
      .select(["sealed", "kept_until"])
      .where("key_hash", "=", key_hash)
      .where("principal", "=", principal)
      .where("request", "=", request),
);

/** The stored reply for a request; null when there is none or it has expired. */
export async function findStoredReply(
  transaction: Transaction<Tables>,
  replayKey: ReplayKey,
  context: Context,
): Promise<StoredReply | null> {
  const { keyHash: key_hash, principal, request } = replayKey;
  const [row] = await selectReply(transaction, { key_hash, principal, request });
  if (row === undefined || Number(row.kept_until) <= context.clock.now()) return null;
  return openReply(replayKey, Buffer.from(row.sealed, "base64"), context.keys().all);
}

const upsertReply = preparedQuery(
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

/** Stores a reply for a day, replacing an expired one; of a large reply only the status is stored. */
export async function storeReply(
  transaction: Transaction<Tables>,
  replayKey: ReplayKey,
  { status, text }: { readonly status: number; readonly text: string },
  { keys, clock }: Context,
): Promise<void> {
  const { keyHash: key_hash, principal, request, digest } = replayKey;
  // The digest is sealed too: otherwise a body with a short secret could be found by guessing.
  const content = JSON.stringify({ status, digest, text: exceedsBytes(text, MAX_BYTES) ? null : text });
  const sealed = sealText(sealKeyOf(keys().newest, replayKey), content, associatedData(replayKey));
  const at = clock.now();
  await upsertReply(transaction, { key_hash, principal, request, sealed, kept_until: at + MAX_AGE_MS, now: at });
}

function openReply(replayKey: ReplayKey, sealed: Buffer, keys: readonly SealKey[]): StoredReply {
  const version = sealedVersion(sealed);
  const key = keys.map((candidate) => sealKeyOf(candidate, replayKey)).find((derived) => derived.version === version);
  // The reply was sealed with a server key that is no longer available: only the fact that there was an effect is known.
  if (key === undefined) throw conflict("reply-lost", "this key was used, and its reply can no longer be read");
  const content: unknown = JSON.parse(unseal(key, sealed, associatedData(replayKey)).toString("utf8"));
  if (isObject(content)) {
    const { status, text, digest } = content;
    if (typeof status === "number" && (typeof text === "string" || text === null) && typeof digest === "string")
      return { status, text, digest };
  }
  throw new TypeError("the stored text is not a reply");
}

// Unsealing a reply needs the server's key and the client's.
function sealKeyOf(key: SealKey, replayKey: ReplayKey): SealKey {
  return deriveKey(key, "kept reply", Buffer.from(replayKey.key.open()));
}

function associatedData({ principal, request }: ReplayKey): string {
  return `reply:${principal} ${request}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
