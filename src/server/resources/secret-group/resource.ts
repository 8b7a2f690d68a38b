// src/server/resources/secret-group: secret groups, and who may use them. See docs/control-plane.md#who-may-use-a-secret.

import type { Transaction } from "kysely";
import type { SecretGroup } from "../../../contract/generated/resources.ts";
import { type Json, text } from "../../../contract/json.ts";
import { conflict, forbidden, notFound, unprocessable } from "../../../http/http-error.ts";
import { MASK } from "../../../model/credential.ts";
import { isAllowed, isTenantAdmin, readsTenant } from "../../auth/access.ts";
import { tenant } from "../../auth/principal.ts";
import { recordChange, recordEffect } from "../../database/audit.ts";
import { type JsonText, toText } from "../../database/json-text.ts";
import { keysIn } from "../../database/resource-rows.ts";
import { countTotal, newestFirst, selectPage, selectTextRows } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import { checkPageSize, checkResourceSize } from "../../http/reply-size.ts";
import { danglingReferences, newReferences } from "../../manifest/check-references.ts";
import { refTo } from "../../openapi/json-schema.ts";
import type { ResourceDefinition } from "../../resource.ts";
import { seedUnlisted } from "../../seed/seed-rule.ts";
import { deploymentText } from "../application/rows.ts";
import {
  builtinStore,
  findGroup,
  groupSizes,
  groupTexts,
  hasCollaborators,
  insertGroup,
  type SecretGroupRow,
  touchGroup,
} from "./groups.ts";
import { groupName, integrationId, secretGroupSchemas, secretList } from "./openapi-schemas.ts";
import { readGroupManifest, readSecrets } from "./read-group-manifest.ts";
import { secretGroupSnapshotPart, secretSnapshotPart } from "./snapshot.ts";
import { isCurrentValue, openSecret, putValue, secretFqn } from "./values.ts";

const createSecretGroup: Handler<"createSecretGroup"> = async ({ principal, body }, context) => {
  const { name, integrationId } = body;
  const secrets = readSecrets(name, body.secrets);
  if (!isTenantAdmin(principal)) throw forbidden("you may not create secret groups");
  if (integrationId !== builtinStore) throw unknownIntegration();
  return context.store.write(async (transaction) => {
    if ((await findGroup(transaction, name)) !== null) throw conflict("name-taken", `the group "${name}" exists`);
    const group = await insertGroup(transaction, principal, { name }, context);
    for (const secret of secrets) await putValue(transaction, principal, { group, ...secret }, context);
    const changed = { before: null, after: group.manifest };
    const effect = { principal, operation: "createSecretGroup", resource: `secret-group/${name}`, changed } as const;
    await recordChange(transaction, context, effect);
    return { data: checkResourceSize(await groupText(transaction, group)) };
  });
};

const putSecretGroup: Handler<"putSecretGroup"> = async ({ principal, body }, context) => {
  const { name, integrationId, secrets, collaborators } = readGroupManifest(body.manifest, context.unknownFields);
  if (!isTenantAdmin(principal)) throw forbidden("you may not write secret groups");
  if (integrationId !== null && integrationId !== builtinStore) throw unknownIntegration();
  return context.store.write(async (transaction) => {
    const existing = await findGroup(transaction, name);
    const faults = await danglingReferences(
      transaction,
      newReferences({ collaborators }, existing?.manifest ?? null),
      context,
    );
    if (faults.length > 0) throw unprocessable(faults);
    const group = existing ?? (await insertGroup(transaction, principal, { name, collaborators }, context));
    // Keys that are not in the manifest stay: secrets are never deleted.
    let isChanged = !(existing !== null && hasCollaborators(existing, collaborators));
    const written: Record<string, Json> = {};
    for (const secret of secrets) {
      const value = { group, ...secret };
      if (await isCurrentValue(transaction, value, context)) continue;
      await putValue(transaction, principal, value, context);
      // The audit log says which keys have a new value.
      written[secret.key] = MASK;
      isChanged = true;
    }
    const kept = isChanged && existing !== null ? await touchGroup(transaction, group, collaborators, context) : group;
    const after = { ...kept.manifest, ...(Object.keys(written).length > 0 && { secrets: written }) };
    const changed = { before: existing?.manifest ?? null, after };
    const effect = { principal, operation: "putSecretGroup", resource: `secret-group/${name}`, changed } as const;
    if (isChanged) await recordChange(transaction, context, effect);
    return { data: checkResourceSize(await groupText(transaction, kept)) };
  });
};

const getSecret: Handler<"getSecret"> = async ({ principal, path: { id } }, context) => {
  if (!isTenantAdmin(principal)) throw notFound("the secret");
  return context.store.write(async (transaction) => {
    const secret = await openSecret(transaction, id, context);
    if (secret === null) throw notFound("the secret");
    // Reads of values are audited like writes.
    const effect = { principal, operation: "getSecret", resource: `secret/${secret.fqn}` } as const;
    await recordEffect(transaction, context, effect);
    return { data: toText(secret) };
  });
};

const listSecretGroups: Handler<"listSecretGroups"> = async ({ principal, query, page: wanted }, { store }) => {
  if (!readsTenant(principal)) return { rows: [], total: 0 };
  let rows = store.read.selectFrom("secret_groups");
  if (query.fqn !== undefined) rows = rows.where("fqn", "=", query.fqn);
  const listed = await selectPage(rows.select("json"), wanted);
  checkPageSize(await groupSizes(store.read, listed.rows));
  return { ...listed, rows: await groupTexts(store.read, listed.rows) };
};

const listSecretDeployments: Handler<"listSecretDeployments"> = async (call, { store }) => {
  const fqn = readsTenant(call.principal) ? await secretFqn(store.read, call.path.id) : null;
  if (fqn === null) throw notFound("the secret");
  const rows = store.read
    .selectFrom("secret_uses as u")
    .innerJoin("applications as a", "a.active_deployment_id", "u.deployment_id")
    .innerJoin("deployments as d", "d.id", "u.deployment_id")
    .select(["a.json as application", "d.json as deployment"])
    .where("u.secret_fqn", "=", fqn);
  const found = await selectTextRows(newestFirst(rows, "d.", call.page), {
    application: "a.json",
    deployment: "d.json",
  });
  return {
    total: await countTotal(rows, call.page, found.length),
    rows: found.map(({ deployment, application }) => deploymentText(deployment, application)),
  };
};

/** The operations on secrets: 2, 4, the read of one value, E8 and E11. */
export const resource: ResourceDefinition = {
  section: { name: "Secrets", description: "Groups of secrets, their secrets, and the deployments that use them." },
  operations: [
    defineOperation("listSecretDeployments", listSecretDeployments, {
      description: "Returns the active deployments that use the secret, by a mount or in an environment variable.",
      replySchema: "Deployment",
      parameters: { id: { description: "Id of the secret", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" } },
    }),
    defineOperation("createSecretGroup", createSecretGroup, {
      description:
        "Every secret starts with version 1. The reply has no `value`: a value is read by `GET /api/svc/v1/secrets/{id}` alone. Values are encrypted at rest.\n\nNeeds the role tenant-admin. A group that exists is 409, an unknown `integrationId` 422.",
      replySchema: "SecretGroup",
      members: {
        name: groupName,
        integrationId,
        secrets: secretList,
      },
    }),
    defineOperation("putSecretGroup", putSecretGroup, {
      description:
        "A changed value becomes a new version of its secret; equal values change nothing. `collaborators` are replaced: they hold the role `secret-group-user`, which is needed to refer to the group's secrets in manifests. Needs the role tenant-admin.",
      replySchema: "SecretGroup",
      manifest: { $ref: refTo("SecretGroupManifest") },
    }),
    defineOperation("getSecret", getSecret, {
      refuses: { also: [403, 507] },
      description:
        "The only reply with a secret value: the newest one. Needs admin on the tenant; every read is audited.",
      replySchema: "Secret",
      parameters: { id: { description: "Id of the secret", example: "019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1" } },
    }),
    defineOperation("listSecretGroups", listSecretGroups, {
      description: "Newest first, without values.",
      replySchema: "SecretGroup",
    }),
  ],
  references: [
    {
      kind: "secret-group",
      existing: keysIn("secret_groups", "fqn"),
      isVisible: (principal, fqn) => isAllowed(principal, "read", { type: "secret-group", fqn }),
    },
    {
      kind: "secret",
      existing: keysIn("secrets", "fqn"),
      isVisible: (principal, fqn) => isAllowed(principal, "write", { type: "secret-group", fqn: groupOf(fqn) }),
      verb: "use",
    },
  ],
  // An existing group keeps its values: they may have been changed since.
  seeds: {
    "secret-group": seedUnlisted("putSecretGroup", "listSecretGroups", ({ name }) => `${tenant}:${text(name)}`),
  },
  snapshot: [secretGroupSnapshotPart, secretSnapshotPart],
  manifestSchemas: secretGroupSchemas,
};

async function groupText(transaction: Transaction<Tables>, group: SecretGroupRow): Promise<JsonText<SecretGroup>> {
  const [text = toText({ ...group, associatedSecrets: [] })] = await groupTexts(transaction, [toText(group)]);
  return text;
}

function unknownIntegration(): Error {
  const message = `is not known here; the embedded store is \`${builtinStore}\``;
  return unprocessable([{ pointer: "/integrationId", message, code: "unknown-integration" }]);
}

function groupOf(secretFqn: string): string {
  return secretFqn.slice(0, Math.max(secretFqn.lastIndexOf(":"), 0));
}
