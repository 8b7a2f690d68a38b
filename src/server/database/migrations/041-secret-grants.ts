import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { addColumns } from "../../../store/create-table.ts";

const everyone = { subject: "team:everyone", role_id: "secret-group-user" };

/**
 * Grants the use of existing secret groups to everyone, since their use was not restricted before; and records which
 * virtual account stores its token in which secret.
 */
export const secretGrants: Migration = {
  up: async (database: Kysely<unknown>) => {
    await addColumns(database, "secrets", { account: "text?" });
    await grantToEveryone(database);
    await recordAccounts(database);
  },
};

async function grantToEveryone(database: Kysely<unknown>): Promise<void> {
  const groups = await sql<Row & { readonly fqn: string }>`SELECT name, fqn, json FROM secret_groups`.execute(database);
  for (const { name, fqn, json } of groups.rows) {
    const group = JSON.parse(json);
    const open = JSON.stringify({ ...group, manifest: { ...group.manifest, collaborators: [everyone] } });
    await sql`UPDATE secret_groups SET json = ${open} WHERE name = ${name}`.execute(database);
    await sql`INSERT INTO grants (source, subject, resource_type, resource_fqn, role_id)
      VALUES (${`secret-group/${name}`}, ${everyone.subject}, 'secret-group', ${fqn}, ${everyone.role_id})`.execute(
      database,
    );
  }
}

// When two accounts name the same path, the older one owns it.
async function recordAccounts(database: Kysely<unknown>): Promise<void> {
  const accounts = await sql<Row>`SELECT name, json FROM virtual_accounts ORDER BY created_at, id`.execute(database);
  for (const { name, json } of accounts.rows) {
    const config = JSON.parse(json).manifest?.secret_store_config;
    if (config?.integration_fqn !== "builtin" || typeof config.secret_path !== "string") continue;
    const [group = "", key = ""] = config.secret_path.split("/");
    await sql`UPDATE secrets SET account = ${name} WHERE account IS NULL AND name = ${key}
      AND group_id = (SELECT id FROM secret_groups WHERE name = ${group})`.execute(database);
  }
}

type Row = { readonly name: string; readonly json: string };
