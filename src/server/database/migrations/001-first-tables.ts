// src/server/database/migrations: how earlier schemas become the current one. See docs/releases.md#upgrade.

import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { createTable } from "../../../store/create-table.ts";

/** The tables of the first release. */
export const firstTables: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createPrincipals(database);
    await createPlatform(database);
    await createAccounts(database);
    await createRegistry(database);
    await createSecrets(database);
    await createAudit(database);
  },
};

const resource = { id: "text", created_at: "text", json: "text" } as const;
// The order of every list, newest first.
const newest = ["created_at", "id"];

async function createPrincipals(database: Kysely<unknown>): Promise<void> {
  await createTable(database, "users", {
    columns: { id: "text", slug: "text", display_name: "text" },
    key: ["id"],
    unique: [["slug"]],
  });
  await createTable(database, "tokens", {
    columns: { hash: "text", user_id: "text", name: "text", created_at: "text" },
    key: ["hash"],
    unique: [["user_id", "name"]],
  });
  await createTable(database, "grants", {
    columns: { source: "text", subject: "text", resource_type: "text", resource_fqn: "text", role_id: "text" },
    key: ["source", "subject", "resource_type", "resource_fqn", "role_id"],
    indexes: [["subject"]],
  });
}

async function createPlatform(database: Kysely<unknown>): Promise<void> {
  await createTable(database, "clusters", { columns: resource, key: ["id"], indexes: [newest] });
  await createTable(database, "workspaces", {
    columns: { ...resource, fqn: "text", name: "text", cluster_id: "text" },
    key: ["id"],
    unique: [["fqn"]],
    indexes: [newest, ["cluster_id", ...newest], ["name"]],
  });
  await createTable(database, "applications", {
    columns: {
      ...resource,
      fqn: "text",
      name: "text",
      type: "text",
      workspace_id: "text",
      last_deployment_id: "text",
      active_deployment_id: "text?",
    },
    key: ["id"],
    unique: [["fqn"], ["workspace_id", "name"]],
    indexes: [newest, ["workspace_id", ...newest], ["type", ...newest], ["active_deployment_id"]],
  });
  await createTable(database, "deployments", {
    columns: {
      ...resource,
      application_id: "text",
      version: "integer",
      is_over: "integer",
      look_at: "integer?",
    },
    key: ["id"],
    unique: [["application_id", "version"]],
    indexes: [["application_id", ...newest], ["look_at"]],
  });
}

async function createAccounts(database: Kysely<unknown>): Promise<void> {
  await createTable(database, "teams", {
    columns: { ...resource, name: "text" },
    key: ["id"],
    unique: [["name"]],
    indexes: [newest],
  });
  await createTable(database, "team_members", {
    columns: { team: "text", member: "text", position: "text" },
    key: ["team", "member", "position"],
    indexes: [["member"]],
  });
  await createTable(database, "virtual_accounts", {
    columns: { ...resource, name: "text", expires_on: "text?", rotate_at: "integer?" },
    key: ["id"],
    unique: [["name"]],
    indexes: [newest, ["rotate_at"]],
  });
  await createTable(database, "jwts", {
    columns: { id: "text", account_id: "text", created_at: "text", valid_until: "integer?" },
    key: ["id"],
    indexes: [["account_id"]],
  });
  await createTable(database, "signing_keys", {
    columns: { kid: "text", sealed: "text", created_at: "text" },
    key: ["kid"],
  });
}

async function createRegistry(database: Kysely<unknown>): Promise<void> {
  await createTable(database, "ml_repos", {
    columns: { ...resource, name: "text" },
    key: ["id"],
    unique: [["name"]],
    indexes: [newest],
  });
  await createTable(database, "artifacts", {
    columns: { ...resource, type: "text", ml_repo_id: "text", name: "text", newest: "integer" },
    key: ["id"],
    unique: [["ml_repo_id", "type", "name"]],
  });
  await createTable(database, "artifact_versions", {
    columns: {
      ...resource,
      artifact_id: "text",
      type: "text",
      ml_repo_id: "text",
      name: "text",
      version: "integer",
      fqn: "text",
      alias: "text?",
      run_id: "text?",
      step: "integer?",
    },
    key: ["id"],
    unique: [["artifact_id", "version"], ["fqn"]],
    indexes: [
      ["artifact_id", "alias"],
      ["ml_repo_id", "run_id"],
      ["name"],
      ["type", ...newest],
      ["ml_repo_id", "type", ...newest],
    ],
  });
  await createTable(database, "stages", {
    columns: {
      id: "text",
      artifact_id: "text",
      ml_repo_id: "text",
      storage_root: "text",
      state: "text",
      created_at: "text",
    },
    key: ["id"],
    unique: [["storage_root"]],
  });
}

async function createSecrets(database: Kysely<unknown>): Promise<void> {
  await createTable(database, "secret_groups", {
    columns: { ...resource, name: "text", fqn: "text" },
    key: ["id"],
    unique: [["name"], ["fqn"]],
    indexes: [newest],
  });
  await createTable(database, "secrets", {
    columns: { ...resource, group_id: "text", name: "text", fqn: "text" },
    key: ["id"],
    unique: [["group_id", "name"], ["fqn"]],
  });
  await createTable(database, "secret_uses", {
    columns: { deployment_id: "text", secret_fqn: "text" },
    key: ["deployment_id", "secret_fqn"],
    indexes: [["secret_fqn"]],
  });
  await createTable(database, "secret_versions", {
    columns: { id: "text", secret_id: "text", version: "integer", sealed: "text", created_at: "text" },
    key: ["id"],
    unique: [["secret_id", "version"]],
  });
}

async function createAudit(database: Kysely<unknown>): Promise<void> {
  await createTable(database, "audit", {
    columns: { id: "text", at: "text", principal: "text", operation: "text", resource: "text" },
    key: ["id"],
    indexes: [["resource"]],
  });
}
