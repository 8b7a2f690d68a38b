import type { Kysely } from "kysely";
import type { Cluster } from "../../contract/resources.ts";
import { prepared } from "../../store/prepared.ts";
import { fromText, type JsonText } from "../json-text.ts";
import type { Tables } from "./tables.ts";

const byName = prepared((database: Kysely<Tables>, { name }: { readonly name: string }) =>
  database.selectFrom("clusters").select("json").where("id", "=", name),
);

/** The cluster of that name, visible or not. */
export async function findCluster(database: Kysely<Tables>, name: string): Promise<Cluster | null> {
  const text = await findClusterText(database, name);
  return text === null ? null : fromText(text);
}

/** The same as it is sent. */
export async function findClusterText(database: Kysely<Tables>, name: string): Promise<JsonText<Cluster> | null> {
  const [row] = await byName(database, { name });
  return row === undefined ? null : row.json;
}
