import type { Kysely } from "kysely";
import type { Workspace } from "../../contract/resources.ts";
import { prepared } from "../../store/prepared.ts";
import { fromText } from "../json-text.ts";
import type { Tables } from "./tables.ts";

const byFqn = prepared((database: Kysely<Tables>, { fqn }: { readonly fqn: string }) =>
  database.selectFrom("workspaces").select("json").where("fqn", "=", fqn),
);

/** The workspace of that fqn, visible or not. */
export async function findWorkspace(database: Kysely<Tables>, fqn: string): Promise<Workspace | null> {
  const [row] = await byFqn(database, { fqn });
  return row === undefined ? null : fromText(row.json);
}

const fqnById = prepared((database: Kysely<Tables>, { id }: { readonly id: string }) =>
  database.selectFrom("workspaces").select("fqn").where("id", "=", id),
);

/** The fqn of the workspace of that id, visible or not. */
export async function findWorkspaceFqn(database: Kysely<Tables>, id: string): Promise<string | null> {
  const [row] = await fqnById(database, { id });
  return row?.fqn ?? null;
}
