import type { Kysely, Transaction } from "kysely";
import type { SecretGroup, SecretResource, Subject } from "../../../contract/generated/resources.ts";
import { equal, type JsonObject } from "../../../contract/json.ts";
import { collaboratorGrants, type Grant, replaceGrants } from "../../auth/grants.ts";
import { type Principal, tenant } from "../../auth/principal.ts";
import { type Context, timestamp } from "../../context.ts";
import { fromText, type JsonText, toText, withMember } from "../../database/json-text.ts";
import { resourceBy } from "../../database/resource-rows.ts";
import { textBytes } from "../../database/select-page.ts";
import type { ResourceRow, Tables } from "../../database/tables.ts";
import { countActiveUses } from "./secret-uses.ts";

/** The integration id of the control plane's own secret store. */
export const builtinStore = "builtin";

/** A secret group as stored: a reply adds its secrets. */
export type SecretGroupRow = Omit<SecretGroup, "associatedSecrets">;

/** A secret as stored: a reply adds the number of uses, or its value. */
export type SecretRow = Omit<SecretResource, "activeDeploymentsCount" | "value">;

declare module "../../database/tables.ts" {
  interface Tables {
    readonly secret_groups: ResourceRow<SecretGroupRow> & { readonly name: string; readonly fqn: string };
    readonly secrets: ResourceRow<SecretRow> & {
      readonly group_id: string;
      readonly name: string;
      readonly fqn: string;
      /** The virtual account whose token this is; null for other secrets. */
      readonly account: string | null;
    };
    /** One row for each secret that a deployment refers to. */
    readonly secret_uses: { readonly deployment_id: string; readonly secret_fqn: string };
    /** Values, sealed (base64) with `secret:<secret id>:<version>` as associated data. */
    readonly secret_versions: {
      readonly id: string;
      readonly secret_id: string;
      readonly version: number;
      readonly sealed: string;
      readonly created_at: string;
    };
  }
}

/** The secret group of that name. */
export const findGroup = resourceBy("secret_groups", "name");

/** Inserts a group without secrets. */
export async function insertGroup(
  transaction: Transaction<Tables>,
  { subject }: Principal,
  {
    name,
    fqn = `${tenant}:${name}`,
    collaborators = [],
  }: { readonly name: string; readonly fqn?: string; readonly collaborators?: readonly JsonObject[] },
  context: Context,
): Promise<SecretGroupRow> {
  const now = timestamp(context);
  const group: SecretGroupRow = {
    id: context.newId(),
    fqn,
    name,
    tenantName: tenant,
    integrationId: builtinStore,
    ...creationFields(subject, now),
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

function groupGrants({ fqn, manifest }: SecretGroupRow): readonly Grant[] {
  return collaboratorGrants({ type: "secret-group", fqn }, manifest);
}

/** Whether a group has these collaborators. */
export function hasCollaborators({ manifest }: SecretGroupRow, collaborators: readonly JsonObject[]): boolean {
  return equal(manifest.collaborators ?? [], collaborators);
}

/** Updates the time and the collaborators of a group. */
export async function touchGroup(
  transaction: Transaction<Tables>,
  group: SecretGroupRow,
  collaborators: readonly JsonObject[],
  context: Context,
): Promise<SecretGroupRow> {
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

/** Groups in a reply: with their secrets, without values. */
export async function groupTexts(
  database: Kysely<Tables>,
  groups: readonly JsonText<SecretGroupRow>[],
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
    const answered = own.map((secret) => withUses(secret, uses.get(secret.fqn) ?? 0));
    return withMember(text, "associatedSecrets", toText(answered));
  });
}

/** A secret with the number of active deployments that use it, also in its versions. */
export function withUses(secret: SecretRow, activeDeploymentsCount: number) {
  const secretVersions = secret.secretVersions.map((version) => ({
    ...version,
    secret: { ...version.secret, activeDeploymentsCount },
  }));
  return { ...secret, secretVersions, activeDeploymentsCount };
}

// The reply adds the number of uses to each secret.
const USES_BYTES = 40;

/** The approximate size of each group in a reply, without reading its secrets. */
export async function groupSizes(
  database: Kysely<Tables>,
  groups: readonly JsonText<SecretGroupRow>[],
): Promise<readonly number[]> {
  if (groups.length === 0) return [];
  const ids = groups.map((text) => fromText(text).id);
  const rows = await database
    .selectFrom("secrets")
    .select(["group_id", ({ fn }) => fn.sum<number>(textBytes("json")).as("size")])
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("group_id", "in", ids)
    .groupBy("group_id")
    .execute();
  const sizes = new Map(rows.map(({ group_id, size, count }) => [group_id, Number(size) + Number(count) * USES_BYTES]));
  return groups.map((text, at) => text.length + (sizes.get(ids[at] ?? "") ?? 0));
}

async function secretsOf(database: Kysely<Tables>, groupIds: readonly string[]): Promise<readonly SecretRow[]> {
  if (groupIds.length === 0) return [];
  const rows = await database
    .selectFrom("secrets")
    .select("json")
    .where("group_id", "in", groupIds)
    .orderBy("name")
    .execute();
  return rows.map(({ json }) => fromText(json));
}

/** The creator and the timestamps of a new resource. */
export function creationFields(subject: Subject, now: string) {
  return { createdBy: subject.subjectId, createdBySubject: subject, createdAt: now, updatedAt: now };
}
