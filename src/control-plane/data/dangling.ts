import type { Kysely } from "kysely";
import type { JsonObject } from "../../contract/json.ts";
import type { ErrorDetail } from "../../contract/resources.ts";
import { may } from "../access.ts";
import { type Principal, tenant } from "../principal.ts";
import { type Reference, type ReferenceKind, referencesOf } from "../references.ts";
import type { Tables } from "./tables.ts";

/**
 * The references of a manifest to what is absent, or not visible to the caller: both read the same. What the existing
 * resource names already is not questioned again.
 */
export async function danglingReferences(
  database: Kysely<Tables>,
  principal: Principal,
  manifest: JsonObject,
  existing: JsonObject | null,
): Promise<readonly ErrorDetail[]> {
  const kept = new Set(existing === null ? [] : referencesOf(existing).map(identityOf));
  const asked = referencesOf(manifest).filter((reference) => !kept.has(identityOf(reference)));
  const found = await findAll(
    database,
    asked.filter((reference) => isVisible(principal, reference)),
  );
  return asked.filter((reference) => !found.has(identityOf(reference))).map(detail);
}

/** Which names of a kind exist. */
async function namesOf(
  database: Kysely<Tables>,
  kind: ReferenceKind,
  keys: readonly string[],
): Promise<readonly string[]> {
  switch (kind) {
    case "tenant":
      return [tenant];
    case "cluster":
      return (await database.selectFrom("clusters").select("id as key").where("id", "in", keys).execute()).map(keyOf);
    case "workspace":
      return (await database.selectFrom("workspaces").select("fqn as key").where("fqn", "in", keys).execute()).map(
        keyOf,
      );
    case "ml-repo":
      return (await database.selectFrom("ml_repos").select("name as key").where("name", "in", keys).execute()).map(
        keyOf,
      );
    case "team": {
      const teams = await database.selectFrom("teams").select("name as key").where("name", "in", keys).execute();
      return ["everyone", ...teams.map(keyOf)];
    }
    case "virtual-account":
      return (
        await database.selectFrom("virtual_accounts").select("name as key").where("name", "in", keys).execute()
      ).map(keyOf);
    case "secret":
      return (await database.selectFrom("secrets").select("fqn as key").where("fqn", "in", keys).execute()).map(keyOf);
  }
}

async function findAll(database: Kysely<Tables>, asked: readonly Reference[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const [kind, references] of Map.groupBy(asked, (reference) => reference.kind)) {
    const keys = [...new Set(references.map(({ key }) => key))];
    // A statement takes a limited number of values.
    for (let at = 0; at < keys.length; at += 500) {
      const names = await namesOf(database, kind, keys.slice(at, at + 500));
      for (const key of names) found.add(identityOf({ kind, key }));
    }
  }
  return found;
}

// Teams, accounts and secrets can be named by whoever knows their name: naming them shows nothing of them.
function isVisible(principal: Principal, { kind, key }: Reference): boolean {
  switch (kind) {
    case "cluster":
    case "workspace":
      return may(principal, "read", { type: kind, fqn: key });
    case "ml-repo":
      return may(principal, "read", { type: kind, name: key });
    default:
      return true;
  }
}

function detail({ kind, pointer }: Reference): ErrorDetail {
  return { pointer, message: `there is no such ${kind.replace("-", " ")}`, code: "dangling-reference" };
}

function identityOf({ kind, key }: Pick<Reference, "kind" | "key">): string {
  return `${kind}/${key}`;
}

function keyOf({ key }: { readonly key: string }): string {
  return key;
}
