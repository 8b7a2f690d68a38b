import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import type { ErrorDetail, VirtualAccount } from "../../../contract/resources.ts";
import { tenant } from "../../auth/principal.ts";
import type { ResourceInput } from "../../manifest/put-declared.ts";
import { requiredName } from "../../manifest/required-text.ts";
import { builtinStore } from "../secret-group/groups.ts";
import { readSecretPath } from "../secret-group/manifest.ts";
import { endOfDay, nextScheduledRotation } from "./expiry.ts";
import type { AccountRow } from "./tables.ts";
import { accountSubjectType } from "./token.ts";

/** A virtual account that is kept, and so has an id. */
export type StoredAccount = AccountRow & { readonly id: string };

type Token = VirtualAccount["jwts"][number];

// Clients take the end of a token for granted: one that has none has the last that a timestamp can say.
const NEVER = "9999-12-31T23:59:59.999Z";

/** The account that a manifest makes, with the tokens it has already: a new one has none yet. */
export function makeAccount(
  { manifest, existing, subject, createdAt, updatedAt }: ResourceInput<StoredAccount>,
  newId: () => string,
): StoredAccount {
  const id = existing?.id ?? newId();
  return withSchedule({
    id,
    name: requiredName(manifest),
    type: "virtual-account",
    tenantName: tenant,
    jwtId: existing?.jwtId ?? null,
    accountId: tenant,
    nextScheduledRotation: null,
    manifest,
    createdBy: subject.subjectId,
    createdBySubject: subject,
    createdAt,
    updatedAt,
    jwts: existing?.jwts ?? [],
    metadata: {},
  });
}

/** The account with a token that was just made; the one before is good until the end of its grace. */
export function withToken(account: StoredAccount, jwtId: string, now: number, graceEnd: number | null): StoredAccount {
  const moment = new Date(now).toISOString();
  const jwt: Token = {
    id: jwtId,
    subjectType: accountSubjectType,
    subjectId: account.id,
    metadata: {},
    expiry: NEVER,
    createdAt: moment,
    updatedAt: moment,
  };
  const [current, ...former] = account.jwts.filter(({ expiry }) => expiry > moment);
  const retired = current === undefined ? [] : [{ ...current, expiry: earlier(current, graceEnd), updatedAt: moment }];
  return withSchedule({ ...account, jwtId, jwts: [jwt, ...retired, ...former] });
}

/** The account without any token. */
export function withoutTokens(account: StoredAccount): StoredAccount {
  return withSchedule({ ...account, jwtId: null, jwts: [] });
}

/** The last day on which a manifest lets its account be used; null without end. */
export function lastDay({ expiration_date: date }: JsonObject): string | null {
  return text(date) ?? null;
}

/** Where a manifest wants the token to be kept besides. */
export function secretStoreOf(manifest: JsonObject): { readonly integration: string; readonly path: string } | null {
  const { secret_store_config: config } = manifest;
  if (!isObject(config)) return null;
  return { integration: text(config.integration_fqn) ?? "", path: text(config.secret_path) ?? "" };
}

/** What is wrong with the place that a manifest gives for the token. */
export function secretStoreErrors(manifest: JsonObject): readonly ErrorDetail[] {
  const store = secretStoreOf(manifest);
  if (store === null) return [];
  const at = "/secret_store_config";
  if (store.integration === "") return [required(`${at}/integration_fqn`)];
  if (store.path === "") return [required(`${at}/secret_path`)];
  if (store.integration !== builtinStore || readSecretPath(store.path) !== null) return [];
  return [{ pointer: `${at}/secret_path`, message: "must be `group/key` for the builtin store", code: "form" }];
}

/** The path in the builtin store where a manifest wants the token to be kept besides; null when it wants none there. */
export function builtinSecretPath(manifest: JsonObject): string | null {
  const store = secretStoreOf(manifest);
  return store?.integration === builtinStore ? store.path : null;
}

/** For how many days the former token stays valid after a rotation. */
export function graceDays({ auto_rotate: rotation }: JsonObject): number {
  const days = isObject(rotation) ? rotation.grace_period : undefined;
  return typeof days === "number" ? days : SHORTEST_GRACE;
}

/** When the account's token is to be replaced by us, in epoch milliseconds; null when it is not. */
export function rotationTime({ manifest, nextScheduledRotation: next }: AccountRow): number | null {
  return next === null || secretStoreOf(manifest) === null ? null : Date.parse(next);
}

const SHORTEST_GRACE = 1;

// What depends on both the manifest and the tokens: the end of the current token, and when it is to be replaced.
function withSchedule(account: StoredAccount): StoredAccount {
  const { manifest, jwts } = account;
  const [current, ...former] = jwts;
  const end = endOfDay(lastDay(manifest));
  const expiry = end === null ? NEVER : new Date(end).toISOString();
  const next = nextScheduledRotation(
    rotationDays(manifest),
    current === undefined ? null : Date.parse(current.createdAt),
  );
  return {
    ...account,
    jwts: current === undefined ? [] : [{ ...current, expiry }, ...former],
    nextScheduledRotation: next === null ? null : new Date(next).toISOString(),
    metadata: next !== null && secretStoreOf(manifest) === null ? { rotation: NOT_ROTATED } : {},
  };
}

const NOT_ROTATED = "not carried out: without secret_store_config nobody could fetch the new token";

function earlier({ expiry }: Token, graceEnd: number | null): string {
  const end = graceEnd === null ? NEVER : new Date(graceEnd).toISOString();
  return end < expiry ? end : expiry;
}

function rotationDays({ auto_rotate: rotation }: JsonObject): number | null {
  const days = isObject(rotation) ? rotation.auto_rotate_interval : undefined;
  return typeof days === "number" ? days : null;
}

function required(pointer: string): ErrorDetail {
  return { pointer, message: "is required", code: "required" };
}
