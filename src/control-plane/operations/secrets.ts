import { conflict, forbidden, notFound, unprocessable } from "../../http/refusal.ts";
import { isTenantAdmin } from "../access.ts";
import type { Handler } from "../call.ts";
import { recordEffect } from "../data/audit.ts";
import { page, pageOfRows } from "../data/page.ts";
import { addGroup, builtinStore, findGroup, groupTexts, openSecret, putValue, secretFqn } from "../data/secrets.ts";
import { deploymentText } from "../deployment-text.ts";
import { toText } from "../json-text.ts";
import { readSecrets } from "../secret-form.ts";
import { type Served, serve } from "../serve.ts";

const createSecretGroup: Handler<"createSecretGroup"> = async ({ principal, body }, context) => {
  const { name, integrationId } = body;
  const secrets = readSecrets(name, body.secrets);
  if (!isTenantAdmin(principal)) throw forbidden("you may not create secret groups");
  if (integrationId !== builtinStore) throw unknownIntegration();
  return context.store.write(async (transaction) => {
    if ((await findGroup(transaction, name)) !== null) throw conflict("name-taken", `the group "${name}" exists`);
    const group = await addGroup(transaction, principal, name, context);
    for (const secret of secrets) await putValue(transaction, principal, { group, ...secret }, context);
    const effect = { principal, operation: "createSecretGroup", resource: `secret-group/${name}` } as const;
    await recordEffect(transaction, context, effect);
    const [data = toText({ ...group, associatedSecrets: [] })] = await groupTexts(transaction, [toText(group)]);
    return { data };
  });
};

const getSecret: Handler<"getSecret"> = async ({ principal, path: { id } }, context) => {
  if (!isTenantAdmin(principal)) throw notFound("the secret");
  return context.store.write(async (transaction) => {
    const secret = await openSecret(transaction, id, context);
    if (secret === null) throw notFound("the secret");
    // Who has seen a value is worth as much as who has changed it.
    const effect = { principal, operation: "getSecret", resource: `secret/${secret.fqn}` } as const;
    await recordEffect(transaction, context, effect);
    return { data: toText(secret) };
  });
};

const listSecretGroups: Handler<"listSecretGroups"> = async ({ principal, query, page: wanted }, { store }) => {
  if (!isTenantAdmin(principal)) return { rows: [], total: 0 };
  let rows = store.read.selectFrom("secret_groups");
  if (query.fqn !== undefined) rows = rows.where("fqn", "=", query.fqn);
  const listed = await page(rows.select("json"), wanted);
  return { ...listed, rows: await groupTexts(store.read, listed.rows) };
};

const listSecretDeployments: Handler<"listSecretDeployments"> = async (call, { store }) => {
  const fqn = isTenantAdmin(call.principal) ? await secretFqn(store.read, call.path.id) : null;
  if (fqn === null) throw notFound("the secret");
  const rows = store.read
    .selectFrom("secret_uses as u")
    .innerJoin("applications as a", "a.active_deployment_id", "u.deployment_id")
    .innerJoin("deployments as d", "d.id", "u.deployment_id")
    .select(["a.json as application", "d.json as deployment"])
    .where("u.secret_fqn", "=", fqn);
  const listed = await pageOfRows(rows, "d.", call.page);
  return {
    total: listed.total,
    rows: listed.rows.map(({ deployment, application }) => deploymentText(deployment, application)),
  };
};

/** The operations on secrets: 2, 4, the read of one value, and E8. */
export const secrets: readonly Served[] = [
  serve("listSecretDeployments", listSecretDeployments),
  serve("createSecretGroup", createSecretGroup),
  serve("getSecret", getSecret),
  serve("listSecretGroups", listSecretGroups),
];

function unknownIntegration(): Error {
  const message = `is not known here; the embedded store is \`${builtinStore}\``;
  return unprocessable([{ pointer: "/integrationId", message, code: "unknown-integration" }]);
}
