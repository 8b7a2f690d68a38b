import type { Kysely } from "kysely";
import type { Workspace } from "../../contract/resources.ts";
import { fromText } from "../json-text.ts";
import type { Tables } from "./tables.ts";

/** The workspace of that id or fqn, visible or not. */
export async function findWorkspace(
  database: Kysely<Tables>,
  by: "id" | "fqn",
  value: string,
): Promise<Workspace | null> {
  const row = await database.selectFrom("workspaces").select("json").where(by, "=", value).executeTakeFirst();
  return row === undefined ? null : fromText(row.json);
}
