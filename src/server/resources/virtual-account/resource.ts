// src/server/resources/virtual-account: virtual accounts and their tokens. See docs/control-plane.md#tokens.

import type { Kysely, Transaction } from "kysely";
import type { ErrorDetail } from "../../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../../contract/json.ts";
import type { Secret } from "../../../contract/secret.ts";
import { forbidden, HttpError, notFound } from "../../../http/http-error.ts";
import { isTenantAdmin, readsTenant } from "../../auth/access.ts";
import { requireEnabled } from "../../auth/disabled-subjects.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import { recordChange } from "../../database/audit.ts";
import { type JsonText, toText, withMember } from "../../database/json-text.ts";
import { keysIn } from "../../database/resource-rows.ts";
import { countTotal, newestFirst, selectTextRows } from "../../database/select-page.ts";
import type { Stored, Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import { checkResourceSize } from "../../http/reply-size.ts";
import { type DeclaredKind, decideWrite, type WriteDecision } from "../../manifest/put-declared.ts";
import { requiredName, requireValidManifest } from "../../manifest/require-valid-manifest.ts";
import { manifestSchemaName, refTo, type Schema, type Schemas } from "../../openapi/json-schema.ts";
import { oneTimeToken, REPLACE_DESCRIPTION } from "../../openapi/operation-description.ts";
import type { ReferenceSection, ResourceDefinition } from "../../resource.ts";
import { seedByDryRun, seedPrincipal } from "../../seed/seed-rule.ts";
import { assignToAccount, isPathAvailable, storeToken } from "../secret-group/account-tokens.ts";
import { builtinStore } from "../secret-group/groups.ts";
import {
  type AccountRow,
  builtinSecretPath,
  lastDay,
  makeAccount,
  secretStoreErrors,
  secretStoreOf,
  withToken,
} from "./account.ts";
import { accountSubjectType, authenticateAccount } from "./authenticate-account.ts";
import { expiryGauge, isExpired } from "./expiry.ts";
import { replaceToken, rotateTokens } from "./rotate.ts";
import { accountGrants, findAccount, issueToken, saveAccount } from "./rows.ts";
import { accountSnapshotPart } from "./snapshot.ts";

const accountKind: DeclaredKind<Stored<AccountRow>> = {
  operation: "putVirtualAccount",
  types: ["virtual-account"],
  keyOf: requiredName,
  find: findAccount,
  mayWrite: isTenantAdmin,
  grantsOf: accountGrants,
  faults: storeFaults,
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeAccount,
  save: saveAccount,
};

const putVirtualAccount: Handler<"putVirtualAccount"> = async ({ principal, body }, context) => {
  const manifest = requireValidManifest(context, accountKind.types, body.manifest);
  if (body.dryRun === true) {
    const { action, resource } = await decideAccount(context.store.read, principal, manifest, context);
    const { id, ...planned } = resource;
    return { data: checkResourceSize(answer(action === "create" ? planned : { ...planned, id }, context)) };
  }
  return context.store.write(async (transaction) => {
    const decision = await decideAccount(transaction, principal, manifest, context);
    if (decision.action === "keep") return { data: answer(decision.resource, context) };
    const { account, token } = await carryOut(transaction, principal, decision, context);
    await saveAccount(transaction, account);
    const resource = `virtual-account/${account.name}`;
    const changed = { before: decision.before, after: manifest };
    await recordChange(transaction, context, { principal, operation: "putVirtualAccount", resource, changed });
    const data = checkResourceSize(answer(account, context));
    return token === null ? { data } : { data, beside: { token } };
  });
};

const listVirtualAccounts: Handler<"listVirtualAccounts"> = async ({ principal, page }, context) => {
  let rows = context.store.read.selectFrom("virtual_accounts");
  if (!readsTenant(principal)) {
    const { subjectType, subjectSlug } = principal.subject;
    rows = rows.where("name", "=", subjectType === accountSubjectType ? subjectSlug : "");
  }
  const query = newestFirst(rows.select(["json", "expires_on"]), "", page);
  const found = await selectTextRows(query, { json: "json" }, { others: ["expires_on"] });
  return {
    total: await countTotal(rows, page, found.length),
    rows: found.map(({ json, expires_on }) => withExpiry(json, expires_on, context)),
  };
};

const reissueVirtualAccount: Handler<"reissueVirtualAccount"> = async ({ principal, path: { name } }, context) => {
  if (!isTenantAdmin(principal)) throw forbidden("you may not reissue the tokens of accounts");
  return context.store.write(async (transaction) => {
    const existing = await findAccount(transaction, name);
    if (existing === null) throw notFound("the virtual account");
    const caller = { principal, operation: "reissueVirtualAccount" } as const;
    const { account, token } = await replaceToken(transaction, existing, caller, context);
    return { data: checkResourceSize(answer(account, context)), beside: { token } };
  });
};

/** The section of accounts and tokens in the reference. */
export const accountsSection: ReferenceSection = {
  name: "Accounts and tokens",
  description: "Virtual accounts for machines, and personal access tokens.",
};

/** The operations on virtual accounts: 18, E5 and E20. */
export const resource: ResourceDefinition = {
  section: accountsSection,
  operations: [
    defineOperation("putVirtualAccount", putVirtualAccount, {
      beside: { token: oneTimeToken },
      refuses: { also: [424] },
      description: `${REPLACE_DESCRIPTION}\n\n\`token\` is in the reply that creates the account, and never again. Nobody can grant a role that they do not have.`,
      replySchema: "VirtualAccount",
      manifest: { $ref: refTo("VirtualAccountManifest") },
    }),
    defineOperation("listVirtualAccounts", listVirtualAccounts, {
      description: "Newest first.",
      replySchema: "VirtualAccount",
    }),
    defineOperation("reissueVirtualAccount", reissueVirtualAccount, {
      beside: { token: oneTimeToken },
      description:
        "Gives an account a new token: one that was revoked or lost. `token` is in this reply alone, and also in the secret of the account's `secret_store_config`. The former token, if there is one, stays valid until the end of the grace period (`auto_rotate.grace_period`, by default a day), as in a rotation. A disabled account is 409 `disabled`. Only tenant-admins may call it.",
      replySchema: "VirtualAccount",
      parameters: { name: { description: "Name of the account", example: "ci" } },
    }),
  ],
  references: [{ kind: "virtual-account", existing: keysIn("virtual_accounts", "name") }],
  seeds: { "virtual-account": { ...seedByDryRun("putVirtualAccount"), prepare: assignSeededSecret } },
  snapshot: [accountSnapshotPart],
  manifestSchemas: accountSchemas,
  jobs: [{ name: "rotation", run: rotateTokens }],
  gauges: [expiryGauge],
  authenticate: authenticateAccount,
};

async function storeFaults(database: Kysely<Tables>, manifest: JsonObject): Promise<readonly ErrorDetail[]> {
  const faults = secretStoreErrors(manifest);
  const path = builtinSecretPath(manifest);
  if (faults.length > 0 || path === null || (await isPathAvailable(database, requiredName(manifest), path)))
    return faults;
  const message = "names a secret that this account did not create. Choose another path";
  return [{ pointer: "/secret_store_config/secret_path", message, code: "secret-taken" }];
}

async function decideAccount(
  database: Kysely<Tables>,
  principal: Principal,
  manifest: JsonObject,
  context: Context,
): Promise<WriteDecision<Stored<AccountRow>>> {
  const decision = await decideWrite(accountKind, principal, manifest, context, database);
  await requireEnabled(database, `${accountSubjectType}:${decision.resource.name}`);
  const integration = secretStoreOf(manifest)?.integration ?? builtinStore;
  if (integration === builtinStore) return decision;
  throw new HttpError(424, "secret-store-failed", "the secret store of this integration cannot be reached from here");
}

/** The account to store; a new one gets a token, which is also stored as a secret when the manifest has a secret store. */
async function carryOut(
  transaction: Transaction<Tables>,
  principal: Principal,
  { action, resource }: WriteDecision<Stored<AccountRow>>,
  context: Context,
): Promise<{ readonly account: Stored<AccountRow>; readonly token: Secret | null }> {
  const path = builtinSecretPath(resource.manifest);
  // An account whose tokens were revoked gets a new one when it has a place to store it.
  const needsToken = path !== null && resource.jwtId === undefined;
  if (action !== "create" && !needsToken) return { account: resource, token: null };
  const now = Date.parse(resource.updatedAt);
  const { jwtId, token } = await issueToken(transaction, resource, now, context);
  if (path !== null) await storeToken(transaction, principal, { account: resource.name, path, token }, context);
  return { account: withToken(resource, jwtId, now, null), token: action === "create" ? token : null };
}

function answer<Row extends AccountRow>(account: Row, context: Context) {
  return withExpiry(toText(account), lastDay(account.manifest), context);
}

function withExpiry<Row extends AccountRow>(text: JsonText<Row>, day: string | null, { clock }: Context) {
  return withMember(text, "isExpired", toText(isExpired(day, clock.now())));
}

// A seed may contain the secret in which an account stores its token: it is assigned to the account first.
async function assignSeededSecret(manifest: JsonObject, context: Context): Promise<void> {
  const [account, path] = [text(manifest.name), builtinSecretPath(manifest)];
  if (account === undefined || path === null) return;
  await context.store.write((transaction) => assignToAccount(transaction, { account, path, creator: seedPrincipal }));
}

/** The schema of an account's manifest in replies, for virtual accounts and personal access tokens. */
function accountSchemas(schemas: Schemas): Schemas {
  const account: Schema = schemas[manifestSchemaName("virtual-account")] ?? {};
  const { minItems, ...permissions }: Schema = account.properties?.permissions ?? {};
  return {
    AccountManifest: {
      title: "Account",
      description: "The manifest of a virtual account; for a personal access token it has fewer fields",
      type: "object",
      required: ["type", "name"],
      properties: {
        ...account.properties,
        type: { description: "Kind of manifest", type: "string" },
        name: { description: "Name of the account or token", type: "string" },
        // A personal access token has no permissions of its own.
        permissions,
      },
      additionalProperties: true,
      examples: account.examples ?? [],
    },
  };
}
