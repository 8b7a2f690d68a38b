import type { Kysely, Transaction } from "kysely";
import type { ErrorDetail, MlRepo } from "../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../contract/json.ts";
import { forbidden, unprocessable } from "../../http/http-error.ts";
import { referencesOf } from "../../model/references.ts";
import { checkSemantics } from "../../schema/check-semantics.ts";
import { type AccessTarget, fqnsWithRole, isAllowed, readsTenant } from "../auth/access.ts";
import { collaboratorGrants, type Grant, replaceGrants } from "../auth/grants.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import { fromText, type JsonText, toText } from "../database/json-text.ts";
import { selectPage } from "../database/select-page.ts";
import type { ResourceRow, Tables } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { danglingReferences, refuseInvisible } from "../manifest/check-references.ts";
import { type DeclaredKind, putDeclared, type ResourceInput } from "../manifest/put-declared.ts";
import { errorDetails, requiredName } from "../manifest/require-valid-manifest.ts";
import { refTo } from "../openapi/json-schema.ts";
import { REPLACE_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ResourceDefinition } from "../resource.ts";
import { seedByDryRun } from "../seed/seed-rule.ts";
import { copyDeclared } from "../snapshot/rows.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";

declare module "../database/tables.ts" {
  interface Tables {
    readonly ml_repos: ResourceRow<MlRepo> & { readonly name: string };
  }
}

/** Ml repos, declared by a manifest. */
const mlRepoKind: DeclaredKind<StoredMlRepo> = {
  operation: "putMlRepo",
  types: ["ml-repo"],
  identity: (manifest) => `ml-repo/${requiredName(manifest)}`,
  find: (database, manifest) => findRepo(database, requiredName(manifest)),
  noun: "ml repo",
  mayWrite: (principal, manifest) => isAllowed(principal, "admin", repoTarget(requiredName(manifest))),
  grantsOf,
  faults: async (_, manifest) => errorDetails(checkSemantics("ml-repo", manifest)),
  stamps: (repo) => ({ subject: repo.created_by_subject, createdAt: repo.created_at }),
  make: makeRepo,
  save: saveRepo,
};

const putMlRepo: Handler<"putMlRepo"> = ({ principal, body }, context) =>
  putDeclared(mlRepoKind, principal, body, context);

const listMlRepos: Handler<"listMlRepos"> = async ({ principal, query, page: wanted }, { store }) => {
  const visible = visibleRepos(principal);
  let rows = store.read.selectFrom("ml_repos");
  if (visible !== null) rows = rows.where("name", "in", visible);
  if (query.name !== undefined) rows = rows.where("name", "=", query.name);
  return selectPage(rows.select("json"), wanted);
};

/** The operations on ml repos: 14 and E7. */
export const resource: ResourceDefinition = {
  section: { name: "ML repos", description: "Repositories of models, prompts and runs." },
  operations: [
    defineOperation("listMlRepos", listMlRepos, { description: "Newest first.", replySchema: "MlRepo" }),
    defineOperation("putMlRepo", putMlRepo, {
      scope: ({ manifest }) => repoScope(text(manifest.name)),
      description: REPLACE_DESCRIPTION,
      replySchema: "MlRepo",
      manifest: { $ref: refTo("MlRepoManifest") },
    }),
  ],
  references: [
    {
      kind: "ml-repo",
      existing: namesOf,
      isVisible: (principal, name) => isAllowed(principal, "read", repoTarget(name)),
    },
  ],
  seeds: { "ml-repo": seedByDryRun("putMlRepo") },
  snapshot: [snapshotPart("ml-repo", { rows: "mlRepos", operation: "putMlRepo", copy: copyDeclared(mlRepoKind) })],
};

function makeRepo(
  { manifest, existing, subject, createdAt }: ResourceInput<StoredMlRepo>,
  newId: () => string,
): StoredMlRepo {
  return {
    id: existing?.id ?? newId(),
    tenant_name: tenant,
    account_id: tenant,
    manifest,
    created_by_subject: subject,
    created_at: createdAt,
    num_runs: existing?.num_runs ?? 0,
    // No operation creates data sets.
    datasets_count: 0,
    artifact_type_counts: existing?.artifact_type_counts ?? {},
  };
}

async function saveRepo(
  transaction: Transaction<Tables>,
  { id, created_at, manifest }: StoredMlRepo,
  json: JsonText<MlRepo>,
): Promise<void> {
  const name = requiredName(manifest);
  await transaction
    .insertInto("ml_repos")
    .values({ id, created_at, json, name })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ json }))
    .execute();
  await replaceGrants(transaction, `ml-repo/${name}`, grantsOf(manifest));
}

function grantsOf(manifest: JsonObject): readonly Grant[] {
  return collaboratorGrants(repoTarget(requiredName(manifest)), manifest);
}

/** A stored ml repo, which has an id. */
export type StoredMlRepo = MlRepo & { readonly id: string };

/** The ml repo of that name, visible or not. */
export async function findRepo(database: Kysely<Tables>, name: string): Promise<StoredMlRepo | null> {
  const row = await database.selectFrom("ml_repos").select(["id", "json"]).where("name", "=", name).executeTakeFirst();
  return row === undefined ? null : { ...fromText(row.json), id: row.id };
}

/**
 * The ml repo of a registry manifest, for a write. Refuses a caller who may only read it (403), then references to
 * invisible resources, then all semantic errors together: `faults`, and references to absent resources.
 */
export async function requireWritableRepo(
  database: Kysely<Tables>,
  principal: Principal,
  manifest: JsonObject,
  faults: readonly ErrorDetail[],
  context: Context,
): Promise<StoredMlRepo> {
  const name = text(manifest.ml_repo) ?? "";
  const target = repoTarget(name);
  // An invisible repo is not looked up.
  const repo = isAllowed(principal, "read", target) ? await findRepo(database, name) : null;
  if (repo !== null && !isAllowed(principal, "write", target)) throw forbidden("you may not write in this ml repo");
  const references = referencesOf(manifest, tenant);
  refuseInvisible(principal, references, context);
  const all = [...faults, ...(await danglingReferences(database, references, context))];
  if (repo === null || all.length > 0) throw unprocessable(all);
  return repo;
}

/** The access target of an ml repo. */
export function repoTarget(name: string): AccessTarget {
  return { type: "ml-repo", fqn: name };
}

/** The lease scope of an ml repo. */
export function repoScope(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `ml-repo/${name}`;
}

/** The names of the ml repos that a principal may see; null when it is all of them. */
export function visibleRepos(principal: Principal): readonly string[] | null {
  return readsTenant(principal) ? null : fqnsWithRole(principal, "ml-repo", "here");
}

/** The ids of the ml repos that a principal may see, as a subquery; null when it is all of them. */
export function visibleRepoIds(database: Kysely<Tables>, principal: Principal) {
  const names = visibleRepos(principal);
  return names === null ? null : database.selectFrom("ml_repos").select("id").where("name", "in", names);
}

/** Updates the counts in the repo's row, so that lists need not count. */
export async function countInRepo(
  transaction: Transaction<Tables>,
  repo: StoredMlRepo,
  { artifactType, isNewRun }: { readonly artifactType: string | null; readonly isNewRun: boolean },
): Promise<void> {
  if (artifactType === null && !isNewRun) return;
  const counts = repo.artifact_type_counts;
  const changed: StoredMlRepo = {
    ...repo,
    num_runs: repo.num_runs + (isNewRun ? 1 : 0),
    artifact_type_counts:
      artifactType === null ? counts : { ...counts, [artifactType]: Number(counts[artifactType] ?? 0) + 1 },
  };
  await transaction
    .updateTable("ml_repos")
    .set({ json: toText(changed) })
    .where("id", "=", repo.id)
    .execute();
}

async function namesOf(database: Kysely<Tables>, keys: readonly string[]): Promise<readonly string[]> {
  const rows = await database.selectFrom("ml_repos").select("name").where("name", "in", keys).execute();
  return rows.map(({ name }) => name);
}
