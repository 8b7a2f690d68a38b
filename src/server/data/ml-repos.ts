import type { Kysely, Transaction } from "kysely";
import { type JsonObject, text } from "../../contract/json.ts";
import type { ErrorDetail, MlRepo } from "../../contract/resources.ts";
import { forbidden, unprocessable } from "../../http/refusal.ts";
import { may, visibleRepos } from "../access.ts";
import { fromText, toText } from "../json-text.ts";
import type { Principal } from "../principal.ts";
import { referencesOf } from "../references.ts";
import { danglingReferences, refuseInvisible } from "./dangling.ts";
import type { Tables } from "./tables.ts";

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
): Promise<KeptRepo> {
  const name = text(manifest.ml_repo) ?? "";
  const target = { type: "ml-repo", name } as const;
  // One that is not visible is not even looked for.
  const repo = may(principal, "read", target) ? await findRepo(database, name) : null;
  if (repo !== null && !may(principal, "write", target)) throw forbidden("you may not write in this ml repo");
  const references = referencesOf(manifest);
  refuseInvisible(principal, references);
  const all = [...faults, ...(await danglingReferences(database, references))];
  if (repo === null || all.length > 0) throw unprocessable(all);
  return repo;
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
