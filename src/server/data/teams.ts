import type { Kysely } from "kysely";
import { type Json, type JsonObject, text } from "../../contract/json.ts";
import type { Team } from "../../contract/resources.ts";
import { fromText } from "../json-text.ts";
import type { Tables } from "./tables.ts";

/** A team that has an id. */
export type KeptTeam = Team & { readonly id: string };

/** The team of that name, visible or not. */
export async function findTeam(database: Kysely<Tables>, name: string): Promise<KeptTeam | null> {
  const row = await database.selectFrom("teams").select(["id", "json"]).where("name", "=", name).executeTakeFirst();
  return row === undefined ? null : { ...fromText(row.json), id: row.id };
}

/** The names of the teams that somebody is a member or a manager of, as a subquery. */
export function teamsOf(database: Kysely<Tables>, slug: string) {
  return database.selectFrom("team_members").select("team").where("member", "=", slug);
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
export function listed(manifest: JsonObject, field: "members" | "managers"): readonly string[] {
  const value = manifest[field];
  return Array.isArray(value) ? [...new Set(value.flatMap((item: Json) => text(item) ?? []))] : [];
}
