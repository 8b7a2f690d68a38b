import type { Kysely, Transaction } from "kysely";
import { type JsonObject, text } from "../../../contract/json.ts";
import type { ErrorDetail } from "../../../contract/resources.ts";
import type { Secret } from "../../../contract/secret.ts";
import { HttpError } from "../../../http/http-error.ts";
import { checkSemantics } from "../../../schema/check-semantics.ts";
import { isTenantAdmin } from "../../auth/access.ts";
import { permissionGrants } from "../../auth/grants.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Context } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { type JsonText, toText, withMember } from "../../database/json-text.ts";
import { newestFirst, textRows, totalOf } from "../../database/page.ts";
import type { Tables } from "../../database/tables.ts";
import type { Handler } from "../../http/call.ts";
import { storable } from "../../http/reply-size.ts";
import { serve } from "../../http/serve.ts";
import { type DeciderOf, type Decision, decide } from "../../manifest/declared.ts";
import { nameOf } from "../../manifest/name.ts";
import { errorsOf, wellFormed } from "../../manifest/well-formed.ts";
import { refTo } from "../../openapi/schema.ts";
import { oneTimeToken, REPLACES } from "../../openapi/shared-text.ts";
import type { Resource, Section } from "../../resource.ts";
import { seedByDryRun, seeder } from "../../seed/seeding.ts";
import { giveToAccount, isFreeFor, putToken } from "../secret-group/account-tokens.ts";
import { builtinStore } from "../secret-group/groups.ts";
import {
  type Account,
  builtinPath,
  lastDay,
  makeAccount,
  secretStore,
  secretStoreFaults,
  withToken,
} from "./account.ts";
import { isExpired } from "./expiry.ts";
import { accountManifest } from "./openapi.ts";
import { rotateTokens } from "./rotate.ts";
import { findAccount, saveAccount } from "./rows.ts";
import { accountsOfSnapshot } from "./snapshot.ts";
import type { KeptAccount } from "./tables.ts";
import { accountSubjectType, accountToken, issueToken } from "./token.ts";

const decider: DeciderOf<Account> = {
  find: (database, manifest) => findAccount(database, nameOf(manifest)),
  noun: "virtual account",
  mayWrite: (principal) => isTenantAdmin(principal),
  grantsOf,
  faults: async (database, manifest) => [
    ...errorsOf(checkSemantics("virtual-account", manifest)),
    ...(await storeFaults(database, manifest)),
  ],
  stamps: ({ createdBySubject, createdAt }) => ({ subject: createdBySubject, createdAt }),
  make: makeAccount,
};

const putVirtualAccount: Handler<"putVirtualAccount"> = async ({ principal, body }, context) => {
  const manifest = wellFormed(context, ["virtual-account"], body.manifest);
  if (body.dryRun === true) {
    const { action, resource } = await decideAccount(context.store.read, principal, manifest, context);
    const tried = action === "create" ? { ...resource, id: null } : resource;
    return { data: storable(answer(tried, context)) };
  }
  return context.store.write(async (transaction) => {
    const decision = await decideAccount(transaction, principal, manifest, context);
    if (decision.action === "keep") return { data: answer(decision.resource, context) };
    const { account, token } = await carryOut(transaction, principal, decision, context);
    await saveAccount(transaction, account);
    const resource = `virtual-account/${account.name}`;
    await recordEffect(transaction, context, { principal, operation: "putVirtualAccount", resource });
    const data = storable(answer(account, context));
    return token === null ? { data } : { data, beside: { token } };
  });
};

const listVirtualAccounts: Handler<"listVirtualAccounts"> = async ({ principal, page }, context) => {
  let rows = context.store.read.selectFrom("virtual_accounts");
  if (!isTenantAdmin(principal)) {
    const { subjectType, subjectSlug } = principal.subject;
    rows = rows.where("name", "=", subjectType === accountSubjectType ? subjectSlug : "");
  }
  const query = newestFirst(rows.select(["json", "expires_on"]), "", page);
  const found = await textRows(query, { json: "json" }, { others: ["expires_on"] });
  return {
    total: await totalOf(rows, page, found.length),
    rows: found.map(({ json, expires_on }) => withExpiry(json, expires_on, context)),
  };
};

/** Where the reference has these. */
export const accountsSection: Section = {
  name: "Accounts and tokens",
  description: "Virtual accounts for machines, and a person's own access tokens.",
};

/** The operations on virtual accounts: 18 and E5. */
export const resource: Resource = {
  section: accountsSection,
  operations: [
    serve("putVirtualAccount", putVirtualAccount, {
      beside: { token: oneTimeToken },
      refuses: { also: [424] },
      description: `${REPLACES}\n\n\`token\` is in the reply that creates the account, and never again. Nobody can grant a role that they do not hold.`,
      answers: "VirtualAccount",
      manifest: { $ref: refTo("VirtualAccountManifest") },
    }),
    serve("listVirtualAccounts", listVirtualAccounts, { description: "Newest first.", answers: "VirtualAccount" }),
  ],
  references: [{ kind: "virtual-account", existing: namesOf }],
  seeds: { "virtual-account": { ...seedByDryRun("putVirtualAccount"), prepare: takeSecret } },
  snapshot: [accountsOfSnapshot],
  manifestSchemas: accountManifest,
  jobs: [{ name: "rotation", run: rotateTokens }],
  authenticate: accountToken,
};

async function storeFaults(database: Kysely<Tables>, manifest: JsonObject): Promise<readonly ErrorDetail[]> {
  const faults = secretStoreFaults(manifest);
  const path = builtinPath(manifest);
  if (faults.length > 0 || path === null || (await isFreeFor(database, nameOf(manifest), path))) return faults;
  const message = "names a secret that this account did not create. Choose another path";
  return [{ pointer: "/secret_store_config/secret_path", message, code: "secret-taken" }];
}

async function decideAccount(
  database: Kysely<Tables>,
  principal: Principal,
  manifest: JsonObject,
  context: Context,
): Promise<Decision<Account>> {
  const decision = await decide(decider, principal, manifest, context, database);
  const integration = secretStore(manifest)?.integration ?? builtinStore;
  if (integration === builtinStore) return decision;
  throw new HttpError(424, "secret-store-failed", "the secret store of this integration cannot be reached from here");
}

/** The account that is to be kept; a new one gets its token, which is kept as a secret too where that is wanted. */
async function carryOut(
  transaction: Transaction<Tables>,
  principal: Principal,
  { action, resource }: Decision<Account>,
  context: Context,
): Promise<{ readonly account: Account; readonly token: Secret | null }> {
  const path = builtinPath(resource.manifest);
  // One whose tokens were revoked gets a new one once there is a place for it.
  const isRegained = path !== null && resource.jwtId === null;
  if (action !== "create" && !isRegained) return { account: resource, token: null };
  const now = Date.parse(resource.updatedAt);
  const { jwtId, token } = await issueToken(transaction, resource, now, context);
  if (path !== null) await putToken(transaction, principal, { account: resource.name, path, token }, context);
  return { account: withToken(resource, jwtId, now, null), token: action === "create" ? token : null };
}

function answer<Row extends KeptAccount>(account: Row, context: Context) {
  return withExpiry(toText(account), lastDay(account.manifest), context);
}

function withExpiry<Row extends KeptAccount>(text: JsonText<Row>, day: string | null, { now }: Pick<Context, "now">) {
  return withMember(text, "isExpired", toText(isExpired(day, now())));
}

function grantsOf(manifest: JsonObject) {
  return permissionGrants(`virtualaccount:${nameOf(manifest)}`, manifest);
}

// A folder may hold the secret that an account keeps its token in: it is the account's from the beginning.
async function takeSecret(manifest: JsonObject, context: Context): Promise<void> {
  const [account, path] = [text(manifest.name), builtinPath(manifest)];
  if (account === undefined || path === null) return;
  await context.store.write((transaction) => giveToAccount(transaction, { account, path, maker: seeder }));
}

async function namesOf(database: Kysely<Tables>, keys: readonly string[]): Promise<readonly string[]> {
  const rows = await database.selectFrom("virtual_accounts").select("name").where("name", "in", keys).execute();
  return rows.map(({ name }) => name);
}
