import type { Kysely } from "kysely";
import type { Cluster } from "../../contract/resources.ts";
import { fromText } from "../json-text.ts";
import type { Tables } from "./tables.ts";

/** The cluster of that name, visible or not. */
export async function findCluster(database: Kysely<Tables>, name: string): Promise<Cluster | null> {
  const row = await database.selectFrom("clusters").select("json").where("id", "=", name).executeTakeFirst();
  return row === undefined ? null : fromText(row.json);
}
