import type { Kysely } from "kysely";
import { type Json, type JsonObject, text } from "../../../contract/json.ts";
import type { Team } from "../../../contract/resources.ts";
import type { ResourceRow, Tables } from "../../database/tables.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    readonly teams: ResourceRow<Team> & { readonly name: string };
    /** `member` is an e-mail; `position` is `member` or `manager`. */
    readonly team_members: { readonly team: string; readonly member: string; readonly position: string };
  }
}

/** The team that everybody is in, without a row. */
export const everyoneTeam = "everyone";

/** How the team of everybody is named as a subject. */
export const everyoneSubject = `team:${everyoneTeam}`;

/** The names of the teams that somebody is a member or a manager of, as a subquery. */
export function teamsOf(database: Kysely<Tables>, slug: string) {
  return database.selectFrom("team_members").select("team").where("member", "=", slug);
}

/** The teams of somebody, as subjects of roles, as a subquery. */
export function teamSubjects(database: Kysely<Tables>, slug: string) {
  return database
    .selectFrom("team_members")
    .select(({ val, eb }) => eb(val("team:"), "||", eb.ref("team")).as("subject"))
    .where("member", "=", slug);
}

/** Whether somebody is a manager of the team of that name. */
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

/** The e-mails that a team's manifest lists, each once. */
export function listedEmails(manifest: JsonObject, field: "members" | "managers"): readonly string[] {
  const value = manifest[field];
  return Array.isArray(value) ? [...new Set(value.flatMap((item: Json) => text(item) ?? []))] : [];
}
