import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../clock/clock.ts";
import type { Random } from "../../clock/random.ts";
import { isObject, parseJsonOrNull } from "../../contract/json.ts";
import { ensureOwnFolder } from "../../files/own-folder.ts";
import { readOwnFile } from "../../files/read-own-file.ts";
import { replaceFile } from "../../files/write-file.ts";

/** A request for a one-time token that is about to be sent. */
export type TokenRequest = {
  /** Its Idempotency-Key: that of an earlier request whose token was not delivered, so that the control plane repeats its reply. */
  readonly key: string;
  /** Whether an earlier request had that key. */
  readonly isRepeated: boolean;
  /** Called once the token is delivered, or there is none. */
  readonly end: () => void;
};

/** What the token is for, and the state folder of the target. */
export type TokenRequestPlace = { readonly folder: string; readonly server: string; readonly identity: string };

// The control plane drops a key after a day; the margin is for clock skew.
const KEY_LIFETIME_MS = 23 * 3_600_000;
const MOST_BYTES = 4096;

/**
 * Stores the key of a request before it is sent. A run that is killed before its token is delivered loses nothing: the next one
 * asks with the same key. Where nothing can be stored, the request has a key of its own all the same.
 */
export function beginTokenRequest(
  { folder, server, identity }: TokenRequestPlace,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): TokenRequest {
  const name = createHash("sha256").update(`${server}\n${identity}`).digest("hex");
  const top = join(folder, "token-requests");
  const path = join(top, name);
  try {
    for (const one of [folder, top]) ensureOwnFolder(one);
    const known = keyIn(readOwnFile(path, { limit: MOST_BYTES, isSecret: true }), clock.now());
    if (known !== null) return { key: known, isRepeated: true, end: () => rmSync(path, { force: true }) };
    const key = random.id();
    replaceFile(path, JSON.stringify({ key, at: clock.now() }), { durable: true });
    return { key, isRepeated: false, end: () => rmSync(path, { force: true }) };
  } catch {
    return { key: random.id(), isRepeated: false, end: () => undefined };
  }
}

function keyIn(content: Buffer | null, now: number): string | null {
  const stored = content === null ? null : parseJsonOrNull(content.toString("utf8"));
  if (!isObject(stored) || typeof stored.key !== "string" || typeof stored.at !== "number") return null;
  return now - stored.at < KEY_LIFETIME_MS ? stored.key : null;
}
