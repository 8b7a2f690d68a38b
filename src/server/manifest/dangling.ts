import type { Kysely } from "kysely";
import type { JsonObject } from "../../contract/json.ts";
import type { ErrorDetail } from "../../contract/resources.ts";
import { unprocessable } from "../../http/refusal.ts";
import { may } from "../auth/access.ts";
import { type Principal, tenant } from "../auth/principal.ts";
import type { Tables } from "../database/tables.ts";
import { type Reference, type ReferenceKind, referencesOf } from "./references.ts";

/**
 * Refuses references to what the caller may not see. It names nothing but that, and looks nothing up: what
 * is invisible and what is absent get the same answer after the same work.
 */
export function refuseInvisible(principal: Principal, references: readonly Reference[]): void {
  const invisible = references.filter((reference) => !isVisible(principal, reference));
  if (invisible.length === 0) return;
  throw unprocessable(invisible.map((reference) => detail(reference, `, or you may not ${verbOf(reference)} it`)));
}

/** The references to what is absent, once those to what is not visible are refused. */
export async function danglingReferences(
  database: Kysely<Tables>,
  asked: readonly Reference[],
): Promise<readonly ErrorDetail[]> {
  const found = await findAll(database, asked);
  return asked.filter((reference) => !found.has(identityOf(reference))).map((reference) => detail(reference));
}

/** The references of a manifest that the existing one does not have: those are not questioned again. */
export function newReferences(manifest: JsonObject, existing: JsonObject | null): readonly Reference[] {
  if (existing === null) return referencesOf(manifest);
  const kept = new Set(referencesOf(existing).map(identityOf));
  return referencesOf(manifest).filter((reference) => !kept.has(identityOf(reference)));
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
    case "secret-group":
      return (await database.selectFrom("secret_groups").select("fqn as key").where("fqn", "in", keys).execute()).map(
        keyOf,
      );
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

// Teams and accounts can be named by whoever knows their name: naming them shows nothing of them.
function isVisible(principal: Principal, { kind, key }: Reference): boolean {
  switch (kind) {
    case "cluster":
    case "workspace":
    case "secret-group":
      return may(principal, "read", { type: kind, fqn: key });
    case "secret":
      return may(principal, "read", { type: "secret-group", fqn: key.slice(0, Math.max(key.lastIndexOf(":"), 0)) });
    case "ml-repo":
      return may(principal, "read", { type: kind, name: key });
    default:
      return true;
  }
}

function detail({ kind, pointer }: Reference, more = ""): ErrorDetail {
  return { pointer, message: `there is no such ${kind.replace("-", " ")}${more}`, code: "dangling-reference" };
}

function verbOf({ kind }: Reference): string {
  return kind === "secret" ? "use" : "see";
}

function identityOf({ kind, key }: Pick<Reference, "kind" | "key">): string {
  return `${kind}/${key}`;
}

function keyOf({ key }: { readonly key: string }): string {
  return key;
}
