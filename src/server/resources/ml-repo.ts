import type { Kysely, Transaction } from "kysely";
import { type JsonObject, text } from "../../contract/json.ts";
import type { ErrorDetail, MlRepo } from "../../contract/resources.ts";
import { forbidden, unprocessable } from "../../http/http-error.ts";
import { referencesOf } from "../../model/references.ts";
import { checkSemantics } from "../../schema/check-semantics.ts";
import { fqnsWithRole, isTenantAdmin, may, type Target } from "../auth/access.ts";
import { collaboratorGrants, type Grant, replaceGrants } from "../auth/grants.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import type { Context } from "../context.ts";
import { fromText, type JsonText, toText } from "../database/json-text.ts";
import { page } from "../database/page.ts";
import type { ResourceRow, Tables } from "../database/tables.ts";
import type { Handler } from "../http/call.ts";
import { serve } from "../http/serve.ts";
import { danglingReferences, refuseInvisible } from "../manifest/dangling.ts";
import { type DeclaredKind, type Making, putDeclared } from "../manifest/declared.ts";
import { nameOf } from "../manifest/name.ts";
import { errorsOf } from "../manifest/well-formed.ts";
import { refTo } from "../openapi/schema.ts";
import { REPLACES } from "../openapi/shared-text.ts";
import type { Resource } from "../resource.ts";
import { seedByDryRun } from "../seed/seeding.ts";
import { copyDeclared } from "../snapshot/declared.ts";
import { partOf } from "../snapshot/part.ts";

declare module "../database/tables.ts" {
  interface Tables {
    readonly ml_repos: ResourceRow<MlRepo> & { readonly name: string };
  }
}

/** Ml repos, as they are declared. */
const mlRepoKind: DeclaredKind<KeptRepo> = {
  operation: "putMlRepo",
  types: ["ml-repo"],
  identity: (manifest) => `ml-repo/${nameOf(manifest)}`,
  find: (database, manifest) => findRepo(database, nameOf(manifest)),
  noun: "ml repo",
  mayWrite: (principal, manifest) => may(principal, "admin", repoTarget(nameOf(manifest))),
  grantsOf,
  faults: async (_, manifest) => errorsOf(checkSemantics("ml-repo", manifest)),
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
  return page(rows.select("json"), wanted);
};

/** The operations on ml repos: 14 and E7. */
export const resource: Resource = {
  section: { name: "ML repos", description: "Repositories of models, prompts and runs." },
  operations: [
    serve("listMlRepos", listMlRepos, { description: "Newest first.", answers: "MlRepo" }),
    serve("putMlRepo", putMlRepo, {
      scope: ({ manifest }) => repoScope(text(manifest.name)),
      description: REPLACES,
      answers: "MlRepo",
      manifest: { $ref: refTo("MlRepoManifest") },
    }),
  ],
  references: [
    {
      kind: "ml-repo",
      existing: namesOf,
      isVisible: (principal, name) => may(principal, "read", repoTarget(name)),
    },
  ],
  seeds: { "ml-repo": seedByDryRun("putMlRepo") },
  snapshot: [partOf("ml-repo", { rows: "mlRepos", operation: "putMlRepo", copy: copyDeclared(mlRepoKind) })],
};

function makeRepo({ manifest, existing, subject, createdAt }: Making<KeptRepo>, newId: () => string): KeptRepo {
  return {
    id: existing?.id ?? newId(),
    tenant_name: tenant,
    account_id: tenant,
    manifest,
    created_by_subject: subject,
    created_at: createdAt,
    num_runs: existing?.num_runs ?? 0,
    // No operation makes data sets.
    datasets_count: 0,
    artifact_type_counts: existing?.artifact_type_counts ?? {},
  };
}

async function saveRepo(
  transaction: Transaction<Tables>,
  { id, created_at, manifest }: KeptRepo,
  json: JsonText<MlRepo>,
): Promise<void> {
  const name = nameOf(manifest);
  await transaction
    .insertInto("ml_repos")
    .values({ id, created_at, json, name })
    .onConflict((conflict) => conflict.column("id").doUpdateSet({ json }))
    .execute();
  await replaceGrants(transaction, `ml-repo/${name}`, grantsOf(manifest));
}

function grantsOf(manifest: JsonObject): readonly Grant[] {
  return collaboratorGrants(repoTarget(nameOf(manifest)), manifest);
}

/** An ml repo that has an id. */
export type KeptRepo = MlRepo & { readonly id: string };

/** The ml repo of that name, visible or not. */
export async function findRepo(database: Kysely<Tables>, name: string): Promise<KeptRepo | null> {
  const row = await database.selectFrom("ml_repos").select(["id", "json"]).where("name", "=", name).executeTakeFirst();
  return row === undefined ? null : { ...fromText(row.json), id: row.id };
}

/**
 * The ml repo that a registry manifest goes into. Refuses when the caller may only look at it (403), then references
 * to what is not visible, then, all at once, what the manifest means wrongly: `faults`, and references to what is absent.
 */
export async function repoToWrite(
  database: Kysely<Tables>,
  principal: Principal,
  manifest: JsonObject,
  faults: readonly ErrorDetail[],
  context: Pick<Context, "targets">,
): Promise<KeptRepo> {
  const name = text(manifest.ml_repo) ?? "";
  const target = repoTarget(name);
  // One that is not visible is not even looked for.
  const repo = may(principal, "read", target) ? await findRepo(database, name) : null;
  if (repo !== null && !may(principal, "write", target)) throw forbidden("you may not write in this ml repo");
  const references = referencesOf(manifest, tenant);
  refuseInvisible(principal, references, context);
  const all = [...faults, ...(await danglingReferences(database, references, context))];
  if (repo === null || all.length > 0) throw unprocessable(all);
  return repo;
}

/** An ml repo, as access is decided on it. */
export function repoTarget(name: string): Target {
  return { type: "ml-repo", fqn: name };
}

/** An ml repo, as the scope of a lease. */
export function repoScope(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `ml-repo/${name}`;
}

/** The names of the ml repos that a principal may see; null when it is all of them. */
export function visibleRepos(principal: Principal): readonly string[] | null {
  return isTenantAdmin(principal) ? null : fqnsWithRole(principal, "ml-repo", "here");
}

/** The ids of the ml repos that a principal may see, as a subquery; null when it is all of them. */
export function visibleRepoIds(database: Kysely<Tables>, principal: Principal) {
  const names = visibleRepos(principal);
  return names === null ? null : database.selectFrom("ml_repos").select("id").where("name", "in", names);
}

/** What a new version adds to its repo's counts. */
export type Addition = { readonly artifactType: string | null; readonly isNewRun: boolean };

/** Counts an addition in the repo itself, so that a list of repos need not count. */
export async function countInRepo(
  transaction: Transaction<Tables>,
  repo: KeptRepo,
  { artifactType, isNewRun }: Addition,
): Promise<void> {
  if (artifactType === null && !isNewRun) return;
  const counts = repo.artifact_type_counts;
  const changed: KeptRepo = {
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
