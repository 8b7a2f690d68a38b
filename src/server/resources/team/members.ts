import type { Kysely } from "kysely";
import type { Team } from "../../../contract/generated/resources.ts";
import { type Json, type JsonObject, text } from "../../../contract/json.ts";
import { subjectName } from "../../../model/roles.ts";
import type { ResourceRow, Stored, Tables } from "../../database/tables.ts";

declare module "../../database/tables.ts" {
  interface Tables {
    readonly teams: ResourceRow<Stored<Team>> & {
      readonly name: string;
      /** The group of the issuer whose people are in the team. */
      readonly issuer_group: string | null;
    };
    /** `member` is the name of a user, an e-mail in lower case; `position` is `member` or `manager`. */
    readonly team_members: { readonly team: string; readonly member: string; readonly position: string };
    /** The groups of a user, by the newest token of the issuer. */
    readonly user_groups: { readonly member: string; readonly name: string };
  }
}

/** The built-in team that everyone is a member of; it has no row. */
export const everyoneTeam = "everyone";

/** The subject of that team. */
export const everyoneSubject = `team:${everyoneTeam}`;

/** The names of the teams with this member or manager, by name or through a group of the issuer, as a subquery. */
export function teamsOf(database: Kysely<Tables>, slug: string) {
  return database
    .selectFrom("team_members")
    .select("team")
    .where("member", "=", slug)
    .unionAll(teamsThroughGroups(database, slug).select("t.name as team"));
}

/** The same teams as subjects of roles, as a subquery. */
export function teamSubjects(database: Kysely<Tables>, slug: string) {
  return database
    .selectFrom("team_members")
    .select(({ val, eb }) => eb(val("team:"), "||", eb.ref("team")).as("subject"))
    .where("member", "=", slug)
    .unionAll(
      teamsThroughGroups(database, slug).select(({ val, eb }) =>
        eb(val("team:"), "||", eb.ref("t.name")).as("subject"),
      ),
    );
}

function teamsThroughGroups(database: Kysely<Tables>, slug: string) {
  return database
    .selectFrom("user_groups as g")
    .innerJoin("teams as t", "t.issuer_group", "g.name")
    .where("g.member", "=", slug);
}

/** The group through which someone is in a team, by the team's subject; teams that name the person are left out. */
export async function groupsOfTeams(database: Kysely<Tables>, slug: string): Promise<ReadonlyMap<string, string>> {
  const rows = await teamsThroughGroups(database, slug)
    .select(["t.name as team", "g.name as group"])
    .where("t.name", "not in", database.selectFrom("team_members").select("team").where("member", "=", slug))
    .execute();
  return new Map(rows.map(({ team, group }) => [`team:${team}`, group]));
}

/** The group of the issuer that a team stands for: by its name, unless an SSO team names another one. */
export function issuerGroupOf(manifest: JsonObject): string | null {
  const named = manifest.type === "sso-team" ? text(manifest.group_name) : undefined;
  return named ?? text(manifest.name) ?? null;
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

/** The names of the users with the e-mails in a field of a team's manifest. */
export function listedUsers(manifest: JsonObject, field: "members" | "managers"): readonly string[] {
  return [...new Set(listedEmails(manifest, field).map((email) => subjectName(`user:${email}`).slice("user:".length)))];
}
