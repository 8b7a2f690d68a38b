import type { Kysely } from "kysely";
import type { Workspace } from "../../contract/resources.ts";
import { prepared } from "../../store/prepared.ts";
import { fromText } from "../json-text.ts";
import type { Tables } from "./tables.ts";

const by = { id: selectBy("id"), fqn: selectBy("fqn") } as const;

/** The workspace of that id or fqn, visible or not. */
export async function findWorkspace(
  database: Kysely<Tables>,
  column: "id" | "fqn",
  value: string,
): Promise<Workspace | null> {
  const [row] = await by[column](database, { value });
  return row === undefined ? null : fromText(row.json);
}

function selectBy(column: "id" | "fqn") {
  return prepared((database: Kysely<Tables>, { value }: { readonly value: string }) =>
    database.selectFrom("workspaces").select("json").where(column, "=", value),
  );
}
