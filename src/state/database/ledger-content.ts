import { type Kysely, sql } from "kysely";
import type { ServerContent } from "../checked-ledger.ts";
import type { StateTables } from "./state-schema.ts";

/** What a ledger has of each server. */
export async function serversIn(database: Kysely<StateTables>): Promise<readonly ServerContent[]> {
  const { rows } = await sql<ServerContent>`
    SELECT server, sum(resources) AS resources, sum(pending) AS pending FROM (
      SELECT server, 1 AS resources, 0 AS pending FROM receipt
      UNION ALL SELECT server, 0, 1 FROM intent
      UNION ALL SELECT server, 0, 0 FROM server
    ) AS content GROUP BY server ORDER BY server`.execute(database);
  return rows.map(({ server, resources, pending }) => ({
    server,
    resources: Number(resources),
    pending: Number(pending),
  }));
}
