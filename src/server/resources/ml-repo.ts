import type { Kysely, Transaction } from "kysely";
import type { ErrorDetail, MlRepo } from "../../contract/generated/resources.ts";
import { type JsonObject, text } from "../../contract/json.ts";
import { forbidden, unprocessable } from "../../http/http-error.ts";
import { referencesOf } from "../../model/references.ts";
import { type AccessTarget, fqnsWithRole, isAllowed, readsTenant } from "../auth/access.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import { toText } from "../database/json-text.ts";
import { keysIn, resourceBy, saveIn } from "../database/resource-rows.ts";
import { selectPage } from "../database/select-page.ts";
import type { ResourceRow, Stored, Tables } from "../database/tables.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import { danglingReferences, refuseInvisible } from "../manifest/check-references.ts";
import { type DeclaredKind, putDeclared, type ResourceInput } from "../manifest/put-declared.ts";
import { requiredName } from "../manifest/require-valid-manifest.ts";
import { refTo } from "../openapi/json-schema.ts";
import { REPLACE_DESCRIPTION } from "../openapi/operation-description.ts";
import type { ResourceDefinition } from "../resource.ts";
import { seedByDryRun } from "../seed/seed-rule.ts";
import { copyDeclared } from "../snapshot/rows.ts";
import { snapshotPart } from "../snapshot/snapshot-part.ts";

declare module "../database/tables.ts" {
  interface Tables {
    readonly ml_repos: ResourceRow<Stored<MlRepo>> & { readonly name: string };
  }
}

const saveRepo = saveIn("ml_repos", "json");

/** The ml repo of that name, visible or not. */
export const findRepo = resourceBy("ml_repos", "name");

/** Ml repos, declared by a manifest. */
const mlRepoKind: DeclaredKind<Stored<MlRepo>> = {
  operation: "putMlRepo",
  types: ["ml-repo"],
  keyOf: requiredName,
  find: findRepo,
  stamps: (repo) => ({ subject: repo.created_by_subject, createdAt: repo.created_at }),
  make: makeRepo,
  save: (transaction, { id, created_at, manifest }, json) =>
    saveRepo(transaction, { id, created_at, json, name: requiredName(manifest) }),
};

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
    defineOperation("putMlRepo", putDeclared(mlRepoKind), {
      scope: ({ manifest }) => repoScope(text(manifest.name)),
      description: REPLACE_DESCRIPTION,
      replySchema: "MlRepo",
      manifest: { $ref: refTo("MlRepoManifest") },
    }),
  ],
  references: [
    {
      kind: "ml-repo",
      existing: keysIn("ml_repos", "name"),
      isVisible: (principal, name) => isAllowed(principal, "read", repoTarget(name)),
    },
  ],
  seeds: { "ml-repo": seedByDryRun("putMlRepo") },
  snapshot: [snapshotPart("ml-repo", { rows: "mlRepos", operation: "putMlRepo", copy: copyDeclared(mlRepoKind) })],
};

function makeRepo(
  { manifest, existing, subject, createdAt }: ResourceInput<Stored<MlRepo>>,
  newId: () => string,
): Stored<MlRepo> {
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
): Promise<Stored<MlRepo>> {
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
  repo: Stored<MlRepo>,
  { artifactType, isNewRun }: { readonly artifactType: string | null; readonly isNewRun: boolean },
): Promise<void> {
  if (artifactType === null && !isNewRun) return;
  const counts = repo.artifact_type_counts;
  const changed: Stored<MlRepo> = {
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
