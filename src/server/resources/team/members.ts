import type { Kysely } from "kysely";
import type { Team } from "../../../contract/generated/resources.ts";
import { type Json, type JsonObject, text } from "../../../contract/json.ts";
import type { ResourceRow, Stored, Tables } from "../../database/tables.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    readonly teams: ResourceRow<Stored<Team>> & { readonly name: string };
    /** `member` is an e-mail; `position` is `member` or `manager`. */
    readonly team_members: { readonly team: string; readonly member: string; readonly position: string };
  }
}

/** The built-in team that everyone is a member of; it has no row. */
export const everyoneTeam = "everyone";

/** The subject of that team. */
export const everyoneSubject = `team:${everyoneTeam}`;

/** The names of the teams with this member or manager, as a subquery. */
export function teamsOf(database: Kysely<Tables>, slug: string) {
  return database.selectFrom("team_members").select("team").where("member", "=", slug);
}

/** The same teams as subjects of roles, as a subquery. */
export function teamSubjects(database: Kysely<Tables>, slug: string) {
  return database
    .selectFrom("team_members")
    .select(({ val, eb }) => eb(val("team:"), "||", eb.ref("team")).as("subject"))
    .where("member", "=", slug);
}

/** Whether someone is a manager of that team. */
export async function isManager(database: Kysely<Tables>, team: string, slug: string): Promise<boolean> {
  const row = await database
    .selectFrom("team_members")
    .select("team")
    .where("team", "=", team)
    .where("member", "=", slug)
    .where("position", "=", "manager")
    .executeTakeFirst();
  return row !== undefined;
}

/** The distinct e-mails in a field of a team's manifest. */
export function listedEmails(manifest: JsonObject, field: "members" | "managers"): readonly string[] {
  const value = manifest[field];
  return Array.isArray(value) ? [...new Set(value.flatMap((item: Json) => text(item) ?? []))] : [];
}
