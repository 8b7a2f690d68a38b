import type { Kysely, Transaction } from "kysely";
import type { SecretResource, SecretVersion, Subject } from "../../../contract/generated/resources.ts";
import { Secret } from "../../../contract/secret.ts";
import { sealText, unsealText } from "../../../seal/seal.ts";
import type { KeyRing } from "../../../seal/seal-key.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { fromText, toText } from "../../database/json-text.ts";
import { resourceBy } from "../../database/resource-rows.ts";
import type { Tables } from "../../database/tables.ts";
import { checkSecretSize } from "../../http/reply-size.ts";
import { creationFields, type SecretGroupRow, type SecretRow, withUses } from "./groups.ts";
import { countActiveUses } from "./secret-uses.ts";

/** A value for a key of a group; `account` is the virtual account whose token it is, for a new key. */
export type NewValue = {
  readonly group: SecretGroupRow;
  readonly key: string;
  readonly value: Secret;
  readonly account?: string | null;
};

/** The row of a value: it can only be unsealed for this row. */
export type SecretValueKey = { readonly secretId: string; readonly version: number };

/** Stores a value: as version 1 of a new secret, or as the next version of the existing one. */
export async function putValue(
  transaction: Transaction<Tables>,
  { subject }: Principal,
  { group, key, value, account = null }: NewValue,
  context: Context,
): Promise<void> {
  const now = timestamp(context);
  const existing = await findSecret(transaction, group.id, key);
  const before = existing ?? newSecret(context.newId(), group, key, subject, now);
  const version = newVersion(context.newId(), before, now);
  const secret = { ...before, updatedAt: now, secretVersions: [version, ...before.secretVersions] };
  const row = { id: secret.id, created_at: secret.createdAt, group_id: group.id, name: key, fqn: secret.fqn };
  await transaction
    .insertInto("secrets")
    .values({ ...row, account, json: toText(secret) })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ json: toText(secret) }))
    .execute();
  const place = { secretId: secret.id, version: version.version };
  const sealed = sealText(context.keys().newest, value.open(), valueAssociatedData(place));
  checkSecretSize(sealed.length);
  await transaction
    .insertInto("secret_versions")
    .values({ id: version.id, secret_id: secret.id, version: version.version, sealed, created_at: now })
    .execute();
}

/** Whether a value equals the newest version of its key. */
export async function isCurrentValue(
  transaction: Transaction<Tables>,
  { group, key, value }: NewValue,
  context: Context,
): Promise<boolean> {
  const row = await transaction
    .selectFrom("secrets as s")
    .innerJoin("secret_versions as v", "v.secret_id", "s.id")
    .select(["s.id as id", "v.version as version", "v.sealed as sealed"])
    .where("s.group_id", "=", group.id)
    .where("s.name", "=", key)
    .orderBy("v.version", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return false;
  const place = { secretId: row.id, version: Number(row.version) };
  return unsealValue(context.keys(), place, row.sealed).open() === value.open();
}

/** The fqn of a secret; null when it is absent. */
export async function secretFqn(database: Kysely<Tables>, id: string): Promise<string | null> {
  const row = await database.selectFrom("secrets").select("fqn").where("id", "=", id).executeTakeFirst();
  return row?.fqn ?? null;
}

/** Whether a secret exists. */
export async function secretExists(database: Kysely<Tables>, fqn: string): Promise<boolean> {
  const row = await database.selectFrom("secrets").select("id").where("fqn", "=", fqn).executeTakeFirst();
  return row !== undefined;
}

/** A secret with its newest value; null when it is absent. Former values are not shown: whoever rotates one is done with it. */
export async function openSecret(
  database: Kysely<Tables>,
  id: string,
  context: Context,
): Promise<SecretResource | null> {
  const row = await database
    .selectFrom("secrets as s")
    .innerJoin("secret_versions as v", "v.secret_id", "s.id")
    .select(["s.json as json", "v.version as version", "v.sealed as sealed"])
    .where("s.id", "=", id)
    .orderBy("v.version", "desc")
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const stored = fromText(row.json);
  const newest = Number(row.version);
  const value = unsealValue(context.keys(), { secretId: id, version: newest }, row.sealed).open();
  const uses = await countActiveUses(database, [stored.fqn]);
  const secret = withUses(stored, uses.get(stored.fqn) ?? 0);
  const secretVersions = secret.secretVersions.map((version) =>
    version.version === newest ? { ...version, value } : version,
  );
  return { ...secret, value, secretVersions };
}

/** The secret of a group with that key. */
export const findSecret = resourceBy("secrets", "group_id", "name");

function newSecret(id: string, group: SecretGroupRow, key: string, subject: Subject, now: string): SecretRow {
  return {
    id,
    fqn: `${group.fqn}:${key}`,
    name: key,
    secretGroupId: group.id,
    ...creationFields(subject, now),
    secretVersions: [],
  };
}

function newVersion(id: string, { secretVersions, ...secret }: SecretRow, now: string): SecretVersion {
  const { id: secretId, fqn } = secret;
  const version = (secretVersions[0]?.version ?? 0) + 1;
  return {
    id,
    fqn: `${fqn}:${version}`,
    secretId,
    version,
    secret: { ...secret, updatedAt: now },
    createdAt: now,
    updatedAt: now,
  };
}

/** Unseals a stored value. */
function unsealValue({ all }: KeyRing, place: SecretValueKey, sealed: string): Secret {
  return new Secret(unsealText(all, sealed, valueAssociatedData(place)).toString());
}

/** The associated data of a sealed value. */
export function valueAssociatedData({ secretId, version }: SecretValueKey): string {
  return `secret:${secretId}:${version}`;
}
