import type { Kysely, Transaction } from "kysely";
import { canonical, type JsonObject } from "../../../contract/json.ts";
import type { SecretGroup, SecretResource, SecretVersion, Subject } from "../../../contract/resources.ts";
import type { Secret } from "../../../contract/secret.ts";
import { collaboratorGrants, type Grant, replaceGrants } from "../../auth/grants.ts";
import { type Principal, tenant } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { fromText, type JsonText, toText, withMember } from "../../database/json-text.ts";
import { sizeOfText } from "../../database/page.ts";
import type { Tables } from "../../database/tables.ts";
import { refuseLargeSecret } from "../../http/reply-size.ts";
import { readSecretPath } from "./manifest.ts";
import { openValue, sealValue } from "./sealed-value.ts";
import type { KeptSecret, KeptSecretGroup } from "./tables.ts";
import { countActiveUses } from "./uses.ts";

/** The secret store that this control plane is itself. */
export const builtinStore = "builtin";

/** The secret group of that name. */
export async function findGroup(database: Kysely<Tables>, name: string): Promise<KeptSecretGroup | null> {
  const row = await database.selectFrom("secret_groups").select("json").where("name", "=", name).executeTakeFirst();
  return row === undefined ? null : fromText(row.json);
}

/** A group to be made; `collaborators` are those who may use it. */
export type NewGroup = { readonly name: string; readonly fqn?: string; readonly collaborators?: readonly JsonObject[] };

/** Keeps a group that has no secrets yet. */
export async function addGroup(
  transaction: Transaction<Tables>,
  { subject }: Principal,
  { name, fqn = `${tenant}:${name}`, collaborators = [] }: NewGroup,
  context: Context,
): Promise<KeptSecretGroup> {
  const now = timestamp(context);
  const group: KeptSecretGroup = {
    id: context.newId(),
    fqn,
    name,
    tenantName: tenant,
    integrationId: builtinStore,
    ...stampsOf(subject, now),
    manifest: groupManifest(name, collaborators),
  };
  const { id } = group;
  await transaction
    .insertInto("secret_groups")
    .values({ id, created_at: now, json: toText(group), name, fqn })
    .execute();
  await replaceGrants(transaction, `secret-group/${name}`, groupGrants(group));
  return group;
}

function groupManifest(name: string, collaborators: readonly JsonObject[]): JsonObject {
  const manifest = { type: "secret-group", name, integrationId: builtinStore };
  return collaborators.length === 0 ? manifest : { ...manifest, collaborators };
}

function groupGrants({ fqn, manifest }: Pick<KeptSecretGroup, "fqn" | "manifest">): readonly Grant[] {
  return collaboratorGrants({ type: "secret-group", fqn }, manifest);
}

/** Whether these are the ones who may use a group. */
export function hasCollaborators({ manifest }: KeptSecretGroup, collaborators: readonly JsonObject[]): boolean {
  return canonical(manifest.collaborators ?? []) === canonical(collaborators);
}

/** A value for a key of a group; `account` is the virtual account that keeps its token there, for a new key. */
export type NewValue = {
  readonly group: KeptSecretGroup;
  readonly key: string;
  readonly value: Secret;
  readonly account?: string | null;
};

/** Keeps a value: as version 1 of a new secret, or as the next version of the one that has the key. */
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
  const sealed = sealValue(context.keys(), { secretId: secret.id, version: version.version }, value);
  refuseLargeSecret(sealed.length + (existing === null ? 0 : await sealedSize(transaction, secret.id)));
  await transaction
    .insertInto("secret_versions")
    .values({ id: version.id, secret_id: secret.id, version: version.version, sealed, created_at: now })
    .execute();
}

async function sealedSize(transaction: Transaction<Tables>, secretId: string): Promise<number> {
  const { size } = await transaction
    .selectFrom("secret_versions")
    .select(({ fn }) => fn.sum<number | null>(sizeOfText("sealed")).as("size"))
    .where("secret_id", "=", secretId)
    .executeTakeFirstOrThrow();
  return Number(size ?? 0);
}

/** Whether a value is the newest that its key has. */
export async function isCurrent(
  transaction: Transaction<Tables>,
  { group, key, value }: NewValue,
  context: Pick<Context, "keys">,
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
  return openValue(context.keys(), place, row.sealed).open() === value.open();
}

/** Says that something in a group was changed, and who may use it from now on. */
export async function touchGroup(
  transaction: Transaction<Tables>,
  group: KeptSecretGroup,
  collaborators: readonly JsonObject[],
  context: Context,
): Promise<KeptSecretGroup> {
  const manifest = groupManifest(group.name, collaborators);
  const touched = { ...group, manifest, updatedAt: timestamp(context) };
  await transaction
    .updateTable("secret_groups")
    .set({ json: toText(touched) })
    .where("id", "=", group.id)
    .execute();
  await replaceGrants(transaction, `secret-group/${group.name}`, groupGrants(touched));
  return touched;
}

/** Whether a virtual account may keep its token at `group/key`: nothing is there, or what the account put there. */
export async function isFreeFor(database: Kysely<Tables>, account: string, path: string): Promise<boolean> {
  const place = readSecretPath(path);
  if (place === null) return false;
  const row = await database
    .selectFrom("secrets as s")
    .innerJoin("secret_groups as g", "g.id", "s.group_id")
    .select("s.account")
    .where("g.name", "=", place.group)
    .where("s.name", "=", place.key)
    .executeTakeFirst();
  return row === undefined || row.account === account;
}

/** Says that a secret which nobody keeps a token in yet, and which `maker` made, is where an account keeps its own. */
export async function giveToAccount(
  transaction: Transaction<Tables>,
  { account, path, maker }: { readonly account: string; readonly path: string; readonly maker: Principal },
): Promise<void> {
  const place = readSecretPath(path);
  const group = place && (await findGroup(transaction, place.group));
  const secret = group && (await findSecret(transaction, group.id, place.key));
  if (!secret || secret.createdBy !== maker.subject.subjectId) return;
  await transaction
    .updateTable("secrets")
    .set({ account })
    .where("id", "=", secret.id)
    .where("account", "is", null)
    .execute();
}

/** The token of a virtual account, and where it is to be kept. */
export type StoredToken = { readonly account: string; readonly path: string; readonly token: Secret };

/** Keeps the token of a virtual account at `group/key`, which has to be free for it; a group that is absent is made. */
export async function putToken(
  transaction: Transaction<Tables>,
  principal: Principal,
  { account, path, token: value }: StoredToken,
  context: Context,
): Promise<void> {
  const place = readSecretPath(path);
  if (place === null || !(await isFreeFor(transaction, account, path))) throw new TypeError("the path was not checked");
  const group =
    (await findGroup(transaction, place.group)) ??
    (await addGroup(transaction, principal, { name: place.group }, context));
  await putValue(transaction, principal, { group, key: place.key, value, account }, context);
}

/** Groups as they are answered: each with its secrets, and none with a value. */
export async function groupTexts(
  database: Kysely<Tables>,
  groups: readonly JsonText<KeptSecretGroup>[],
): Promise<readonly JsonText<SecretGroup>[]> {
  const ids = groups.map((text) => fromText(text).id);
  const secrets = await secretsOf(database, ids);
  const uses = await countActiveUses(
    database,
    secrets.map(({ fqn }) => fqn),
  );
  const byGroup = Map.groupBy(secrets, ({ secretGroupId }) => secretGroupId);
  return groups.map((text, at) => {
    const own = byGroup.get(ids[at] ?? "") ?? [];
    const answered = own.map((secret) => ({ ...secret, activeDeploymentsCount: uses.get(secret.fqn) ?? 0 }));
    return withMember(text, "associatedSecrets", toText(answered));
  });
}

// How many deployments use a secret is told with it.
const USES_BYTES = 40;

/** About how many bytes each of these groups has as it is answered, told without reading its secrets. */
export async function groupSizes(
  database: Kysely<Tables>,
  groups: readonly JsonText<KeptSecretGroup>[],
): Promise<readonly number[]> {
  if (groups.length === 0) return [];
  const ids = groups.map((text) => fromText(text).id);
  const rows = await database
    .selectFrom("secrets")
    .select(["group_id", ({ fn }) => fn.sum<number>(sizeOfText("json")).as("size")])
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("group_id", "in", ids)
    .groupBy("group_id")
    .execute();
  const sizes = new Map(rows.map(({ group_id, size, count }) => [group_id, Number(size) + Number(count) * USES_BYTES]));
  return groups.map((text, at) => text.length + (sizes.get(ids[at] ?? "") ?? 0));
}

/** The fqn of the secret of that id, by which manifests name it; null when it is absent. */
export async function secretFqn(database: Kysely<Tables>, id: string): Promise<string | null> {
  const row = await database.selectFrom("secrets").select("fqn").where("id", "=", id).executeTakeFirst();
  return row?.fqn ?? null;
}

/** Whether there is a secret of that fqn. */
export async function hasSecret(database: Kysely<Tables>, fqn: string): Promise<boolean> {
  const row = await database.selectFrom("secrets").select("id").where("fqn", "=", fqn).executeTakeFirst();
  return row !== undefined;
}

/** A secret with the values of all its versions; null when it is absent. */
export async function openSecret(
  database: Kysely<Tables>,
  id: string,
  context: Pick<Context, "keys">,
): Promise<SecretResource | null> {
  const row = await database.selectFrom("secrets").select("json").where("id", "=", id).executeTakeFirst();
  if (row === undefined) return null;
  const kept = fromText(row.json);
  const sealed = await database
    .selectFrom("secret_versions")
    .select(["version", "sealed"])
    .where("secret_id", "=", id)
    .execute();
  const values = new Map(
    sealed.map(({ version, sealed: text }) => [
      Number(version),
      openValue(context.keys(), { secretId: id, version: Number(version) }, text).open(),
    ]),
  );
  const secretVersions = kept.secretVersions.map((version) => ({
    ...version,
    ...valueMember(values, version.version),
  }));
  const uses = await countActiveUses(database, [kept.fqn]);
  const newest = kept.secretVersions[0]?.version ?? 0;
  return {
    ...kept,
    ...valueMember(values, newest),
    secretVersions,
    activeDeploymentsCount: uses.get(kept.fqn) ?? 0,
  };
}

async function findSecret(database: Kysely<Tables>, groupId: string, key: string): Promise<KeptSecret | null> {
  const row = await database
    .selectFrom("secrets")
    .select("json")
    .where("group_id", "=", groupId)
    .where("name", "=", key)
    .executeTakeFirst();
  return row === undefined ? null : fromText(row.json);
}

async function secretsOf(database: Kysely<Tables>, groupIds: readonly string[]): Promise<readonly KeptSecret[]> {
  if (groupIds.length === 0) return [];
  const rows = await database
    .selectFrom("secrets")
    .select("json")
    .where("group_id", "in", groupIds)
    .orderBy("name")
    .execute();
  return rows.map(({ json }) => fromText(json));
}

function newSecret(id: string, group: KeptSecretGroup, key: string, subject: Subject, now: string): KeptSecret {
  return {
    id,
    fqn: `${group.fqn}:${key}`,
    name: key,
    secretGroupId: group.id,
    ...stampsOf(subject, now),
    secretVersions: [],
  };
}

function newVersion(id: string, { id: secretId, fqn, name, secretVersions }: KeptSecret, now: string): SecretVersion {
  const version = (secretVersions[0]?.version ?? 0) + 1;
  return {
    id,
    fqn: `${fqn}:${version}`,
    secretId,
    version,
    secret: { id: secretId, fqn, name },
    createdAt: now,
    updatedAt: now,
  };
}

function stampsOf(subject: Subject, now: string) {
  return { createdBy: subject.subjectId, createdBySubject: subject, createdAt: now, updatedAt: now };
}

function valueMember(values: ReadonlyMap<number, string>, version: number): { readonly value?: string } {
  const value = values.get(version);
  return value === undefined ? {} : { value };
}
