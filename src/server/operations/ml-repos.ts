import type { Transaction } from "kysely";
import type { JsonObject } from "../../contract/json.ts";
import type { MlRepo } from "../../contract/resources.ts";
import { checkMeaning } from "../../schema/meaning.ts";
import { may, visibleRepos } from "../access.ts";
import type { Handler } from "../call.ts";
import { collaboratorGrants, type Grant, replaceGrants } from "../data/grants.ts";
import { findRepo, type KeptRepo } from "../data/ml-repos.ts";
import { page } from "../data/page.ts";
import type { Tables } from "../data/tables.ts";
import { type DeclaredKind, type Making, putDeclared } from "../declared.ts";
import type { JsonText } from "../json-text.ts";
import { nameOf } from "../name.ts";
import { tenant } from "../principal.ts";
import { type Served, serve } from "../serve.ts";
import { errorsOf } from "../well-formed.ts";

/** Ml repos, as they are declared. */
export const mlRepoKind: DeclaredKind<KeptRepo> = {
  operation: "putMlRepo",
  types: ["ml-repo"],
  identity: (manifest) => `ml-repo/${nameOf(manifest)}`,
  find: (database, manifest) => findRepo(database, nameOf(manifest)),
  noun: "ml repo",
  mayWrite: (principal, manifest) => may(principal, "admin", { type: "ml-repo", name: nameOf(manifest) }),
  grantsOf,
  faults: async (_, manifest) => errorsOf(checkMeaning("ml-repo", manifest)),
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
export const mlRepos: readonly Served[] = [serve("listMlRepos", listMlRepos), serve("putMlRepo", putMlRepo)];

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
  return collaboratorGrants({ type: "ml-repo", fqn: nameOf(manifest) }, manifest);
}
