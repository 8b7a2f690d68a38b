import type { ErrorDetail, VirtualAccount } from "../../../contract/generated/resources.ts";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { tenant } from "../../auth/principal.ts";
import type { ResourceRow, Stored } from "../../database/tables.ts";
import type { ResourceInput } from "../../manifest/put-declared.ts";
import { requiredName } from "../../manifest/require-valid-manifest.ts";
import { builtinStore } from "../secret-group/groups.ts";
import { readSecretPath } from "../secret-group/read-group-manifest.ts";
import { accountSubjectType } from "./authenticate-account.ts";
import { endOfDay, nextScheduledRotation } from "./expiry.ts";

// Clients require an expiry: a token without one has the latest possible timestamp.
const NEVER = "9999-12-31T23:59:59.999Z";

/** A virtual account as stored: a reply adds whether it is expired. */
export type AccountRow = Omit<VirtualAccount, "isExpired">;

declare module "../../database/tables.ts" {
  interface Tables {
    readonly virtual_accounts: ResourceRow<Stored<AccountRow>> & {
      readonly name: string;
      /** The last day on which it is valid (`yyyy-mm-dd`); null when it never expires. */
      readonly expires_on: string | null;
      /** When its token is due for rotation, in epoch milliseconds; null when it is not rotated. */
      readonly rotate_at: number | null;
    };
    /**
     * Valid tokens of virtual accounts: any other id is invalid, and a replaced token after `valid_until` (epoch
     * milliseconds).
     */
    readonly jwts: {
      readonly id: string;
      readonly account_id: string;
      readonly created_at: string;
      readonly valid_until: number | null;
      /** The key that signed it. */
      readonly kid: string | null;
    };
  }
}

/** The account of a manifest, with its existing tokens; a new one has none. */
export function makeAccount(
  { manifest, existing, subject, createdAt, updatedAt }: ResourceInput<Stored<AccountRow>>,
  newId: () => string,
): Stored<AccountRow> {
  const id = existing?.id ?? newId();
  return withSchedule({
    id,
    name: requiredName(manifest),
    type: "virtual-account",
    tenantName: tenant,
    ...(existing?.jwtId !== undefined && { jwtId: existing.jwtId }),
    accountId: tenant,
    manifest,
    createdBy: subject.subjectId,
    createdBySubject: subject,
    createdAt,
    updatedAt,
    jwts: existing?.jwts ?? [],
    metadata: {},
  });
}

/** The account with a new token; the former token is valid until `graceEnd`. */
export function withToken(
  account: Stored<AccountRow>,
  jwtId: string,
  now: number,
  graceEnd: number | null,
): Stored<AccountRow> {
  const moment = new Date(now).toISOString();
  const jwt: VirtualAccount["jwts"][number] = {
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

/** The account without tokens. */
export function withoutTokens(account: Stored<AccountRow>): Stored<AccountRow> {
  const { jwtId: _, ...rest } = account;
  return withSchedule({ ...rest, jwts: [] });
}

/** The account without tokens, which never gets one again. */
export function disabledAccount(account: Stored<AccountRow>, disabled: string): Stored<AccountRow> {
  return withoutTokens({ ...account, updatedAt: disabled, metadata: { disabled } });
}

// When the account was disabled for good; null while it is not.
function disabledAt({ metadata }: AccountRow): string | null {
  return text(metadata.disabled) ?? null;
}

/** The last day on which an account is valid; null when it never expires. */
export function lastDay({ expiration_date: date }: JsonObject): string | null {
  return text(date) ?? null;
}

/** The secret store in which a manifest wants the token to be stored; null when none is given. */
export function secretStoreOf(manifest: JsonObject): { readonly integration: string; readonly path: string } | null {
  const { secret_store_config: config } = manifest;
  if (!isObject(config)) return null;
  return { integration: text(config.integration_fqn) ?? "", path: text(config.secret_path) ?? "" };
}

/** The errors in a manifest's `secret_store_config`. */
export function secretStoreErrors(manifest: JsonObject): readonly ErrorDetail[] {
  const store = secretStoreOf(manifest);
  if (store === null) return [];
  const at = "/secret_store_config";
  if (store.integration === "") return [required(`${at}/integration_fqn`)];
  if (store.path === "") return [required(`${at}/secret_path`)];
  if (store.integration !== builtinStore || readSecretPath(store.path) !== null) return [];
  return [{ pointer: `${at}/secret_path`, message: "must be `group/key` for the builtin store", code: "form" }];
}

/** The path in the builtin store where a manifest wants the token to be stored; null when it uses no builtin store. */
export function builtinSecretPath(manifest: JsonObject): string | null {
  const store = secretStoreOf(manifest);
  return store?.integration === builtinStore ? store.path : null;
}

/** The number of days that a former token stays valid after a rotation. */
export function graceDays({ auto_rotate: rotation }: JsonObject): number {
  const days = isObject(rotation) ? rotation.grace_period : undefined;
  return typeof days === "number" ? days : MIN_GRACE_DAYS;
}

/** When the server rotates the account's token, in epoch milliseconds; null when it does not. */
export function rotationTime({ manifest, nextScheduledRotation: next }: AccountRow): number | null {
  return next === undefined || secretStoreOf(manifest) === null ? null : Date.parse(next);
}

const MIN_GRACE_DAYS = 1;

// Sets what depends on both the manifest and the tokens: the expiry and the next rotation of the current token.
function withSchedule(account: Stored<AccountRow>): Stored<AccountRow> {
  const { nextScheduledRotation: _, ...rest } = account;
  const { manifest, jwts } = rest;
  const disabled = disabledAt(account);
  const [current, ...former] = jwts;
  const end = endOfDay(lastDay(manifest));
  const expiry = end === null ? NEVER : new Date(end).toISOString();
  const next = nextScheduledRotation(
    rotationDays(manifest),
    current === undefined ? null : Date.parse(current.createdAt),
  );
  return {
    ...rest,
    jwts: current === undefined ? [] : [{ ...current, expiry }, ...former],
    ...(next !== null && { nextScheduledRotation: new Date(next).toISOString() }),
    metadata: {
      ...(disabled !== null && { disabled }),
      ...(next !== null && secretStoreOf(manifest) === null && { rotation: NOT_ROTATED }),
      ...(hasTarget(manifest) && { notification: NOT_NOTIFIED }),
    },
  };
}

function hasTarget({ notification_target: target }: JsonObject): boolean {
  return target !== undefined && target !== null;
}

const NOT_NOTIFIED = "nobody is told: this control plane sends no notifications";

const NOT_ROTATED = "not rotated: without secret_store_config nobody could read the new token";

function earlier({ expiry }: VirtualAccount["jwts"][number], graceEnd: number | null): string {
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
