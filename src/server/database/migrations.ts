import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { addColumns, createTable } from "../../store/create-table.ts";
import type { Migrations } from "../../store/migrate.ts";
import { firstTables } from "./migrations/001-first-tables.ts";
import { secretGrants } from "./migrations/041-secret-grants.ts";
import { absentMembers } from "./migrations/051-absent-members.ts";

/** Tables for idempotency keys, fencing tokens, leases, personal tokens and key rotation. */
const exactlyOnce: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "kept_replies", {
      columns: { key_hash: "text", principal: "text", request: "text", sealed: "text", kept_until: "integer" },
      key: ["key_hash", "principal", "request"],
      indexes: [["kept_until"]],
    });
    await createTable(database, "fences", {
      columns: { principal: "text", scope: "text", number: "integer" },
      key: ["principal", "scope"],
    });
    await createTable(database, "leases", {
      columns: { scope: "text", holder: "text", principal: "text", number: "integer", expires_at: "integer" },
      key: ["scope"],
    });
    await createTable(database, "personal_tokens", {
      columns: {
        id: "text",
        created_at: "text",
        json: "text",
        hash: "text",
        owner_type: "text",
        owner_id: "text",
        name: "text",
      },
      key: ["id"],
      unique: [["hash"], ["owner_type", "owner_id", "name"]],
    });
    await createTable(database, "server_keys", {
      columns: { version: "text", sealed: "text", created_at: "text" },
      key: ["version"],
    });
    await addColumns(database, "audit", { key_hash: "text?", fencing_number: "integer?" });
    await addColumns(database, "jwts", { kid: "text?" });
  },
};

/** The runs of jobs, and the triggers that start a run after a deployment. */
const jobRuns: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "job_runs", {
      columns: {
        id: "text",
        created_at: "text",
        json: "text",
        job_id: "text",
        deployment_id: "text",
        name: "text",
        look_at: "integer?",
      },
      key: ["id"],
      unique: [["job_id", "name"]],
      indexes: [["job_id", "created_at", "id"], ["deployment_id"], ["look_at"]],
    });
    await createTable(database, "job_triggers", {
      columns: { deployment_id: "text", principal: "text", subject: "text" },
      key: ["deployment_id"],
    });
  },
};

/** Records the credential that each personal token depends on, the one that created it, and when it was last used. */
const tokenCredentials: Migration = {
  up: async (database: Kysely<unknown>) => {
    await addColumns(database, "personal_tokens", {
      credential: "text?",
      made_with: "text?",
      last_used_at: "integer?",
    });
    // The credential of existing tokens was not recorded: they depend on their owner's current one.
    await sql`UPDATE personal_tokens SET credential = (
      SELECT hash FROM tokens WHERE user_id = owner_id ORDER BY created_at DESC LIMIT 1
    ) WHERE owner_type = 'user'`.execute(database);
    await sql`UPDATE personal_tokens SET credential = (
      SELECT id FROM jwts WHERE account_id = owner_id AND valid_until IS NULL ORDER BY created_at DESC LIMIT 1
    ) WHERE owner_type = 'virtualaccount'`.execute(database);
  },
};

/**
 * One sequence of fencing numbers for all scopes, since scopes overlap. Existing leases end: their numbers cannot be
 * compared with each other, and their holders have to take them again.
 */
const leaseTree: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "lease_numbers", { columns: { name: "text", number: "integer" }, key: ["name"] });
    await sql`INSERT INTO lease_numbers (name, number) VALUES ('changes', 0)`.execute(database);
    await sql`INSERT INTO lease_numbers (name, number) SELECT 'issued', COALESCE(MAX(number), 0) FROM leases`.execute(
      database,
    );
    await sql`DELETE FROM leases`.execute(database);
    // Numbers that were never issued are refused now, so they need not be stored.
    await sql`DROP TABLE fences`.execute(database);
  },
};

// Each with the member that follows it in the stored JSON, so that the content of manifests cannot match.
const textReplacements = [
  { table: "teams", from: '"description":null,"tenantName":', to: '"description":"","tenantName":' },
  { table: "deployments", from: '"transition":null,"message":', to: '"transition":"","message":' },
  { table: "job_runs", from: '"command":null,"error":', to: '"command":"","error":' },
  {
    table: "virtual_accounts",
    from: '"expiry":null,"createdAt":',
    to: '"expiry":"9999-12-31T23:59:59.999Z","createdAt":',
  },
] as const;

/** Replaces null in texts that clients expect to be present. */
const requiredTexts: Migration = {
  up: async (database: Kysely<unknown>) => {
    for (const { table, from, to } of textReplacements) {
      await sql`UPDATE ${sql.table(table)} SET json = REPLACE(json, ${from}, ${to}) WHERE json LIKE ${`%${from}%`}`.execute(
        database,
      );
    }
  },
};

/** Records which tokens of the administrator have ended, and which servers run on a shared database. */
const rootCredentials: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "ended_tokens", { columns: { hash: "text", ended_at: "text" }, key: ["hash"] });
    await createTable(database, "servers", { columns: { id: "text", seen_at: "integer" }, key: ["id"] });
  },
};

/** Adds the outcome, the request and the chain to the audit log. What earlier releases wrote were effects. */
const auditChains: Migration = {
  up: async (database: Kysely<unknown>) => {
    await sql`ALTER TABLE audit ADD COLUMN outcome text NOT NULL DEFAULT 'done'`.execute(database);
    await addColumns(database, "audit", {
      details: "text?",
      chain: "text?",
      number: "integer?",
      key_id: "text?",
      link: "text?",
    });
    await createTable(database, "audit_marks", {
      columns: {
        id: "text",
        kind: "text",
        at: "text",
        chain: "text",
        number: "integer",
        key_id: "text",
        link: "text",
        signature: "text",
      },
      key: ["id"],
    });
    await createTable(database, "audit_keys", {
      columns: { id: "text", sealed: "text", created_at: "text" },
      key: ["id"],
    });
  },
};

/** Orders the rows about tokens and users apart, which each server looks for every second. */
const auditOfTokens: Migration = {
  up: async (database: Kysely<unknown>) => {
    await sql`CREATE INDEX audit_of_tokens ON audit (id)
      WHERE (operation IN ('admin-token', 'E13', 'E16', 'E17') OR principal = 'revocation')`.execute(database);
  },
};

/** Records which virtual accounts and users never get a token again. */
const disabledSubjects: Migration = {
  up: (database: Kysely<unknown>) =>
    createTable(database, "disabled_subjects", { columns: { subject: "text", disabled_at: "text" }, key: ["subject"] }),
};

/** Counts what exists for the digests: nothing has compared them yet, so all begin with the same marker. */
const digests: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "digests", {
      columns: { prefix: "text", name: "text", marker: "integer" },
      key: ["prefix", "name"],
      // The sum of a range is read from the index alone.
      indexes: [["prefix", "marker"]],
    });
    const rows = [
      sql`SELECT 'cluster/', id FROM clusters`,
      sql`SELECT 'workspace/', fqn FROM workspaces`,
      sql`SELECT 'team/', name FROM teams`,
      sql`SELECT 'virtual-account/', name FROM virtual_accounts`,
      sql`SELECT 'ml-repo/', name FROM ml_repos`,
      sql`SELECT 'secret-group/', name FROM secret_groups`,
      sql`SELECT a.type || '/' || w.fqn || '/', a.name FROM applications a JOIN workspaces w ON w.id = a.workspace_id`,
      sql`SELECT v.type || '/' || r.name || '/', v.name || '@' || v.version
        FROM artifact_versions v JOIN ml_repos r ON r.id = v.ml_repo_id`,
    ];
    for (const found of rows) {
      await sql`INSERT INTO digests (prefix, name, marker) SELECT f.*, 0 FROM (${found}) AS f`.execute(database);
    }
  },
};

/**
 * Records which transaction changed a digest last, so that what has changed since can be found. By a trigger, since a
 * server of an earlier release may go on writing for a while.
 */
const digestChanges: Migration = {
  up: async (database: Kysely<unknown>) => {
    await addColumns(database, "digests", { changed_in: "integer?" });
    await sql`CREATE INDEX digests_by_change ON digests (changed_in, prefix) WHERE changed_in IS NOT NULL`.execute(
      database,
    );
    await sql`CREATE OR REPLACE FUNCTION digest_changed() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.changed_in := pg_current_xact_id()::text::bigint;
        RETURN NEW;
      END $$`.execute(database);
    await sql`CREATE TRIGGER digest_changed BEFORE INSERT OR UPDATE ON digests
      FOR EACH ROW EXECUTE FUNCTION digest_changed()`.execute(database);
  },
};

/**
 * Orders the applications of one type in a workspace, without which SQLite reads all applications of the type to find
 * those of a workspace.
 */
const applicationsInWorkspace: Migration = {
  up: async (database: Kysely<unknown>) => {
    const { schema } = database;
    await schema
      .createIndex("applications_by_workspace_id_type_created_at_id")
      .on("applications")
      .columns(["workspace_id", "type", "created_at", "id"])
      .execute();
    await schema.dropIndex("applications_by_workspace_id_created_at_id").execute();
  },
};

/** Records how users sign in, their identity at an issuer, and that they were removed. */
const people: Migration = {
  up: async (database: Kysely<unknown>) => {
    await addColumns(database, "users", {
      created_at: "text?",
      sign_in: "text?",
      issuer: "text?",
      issuer_subject: "text?",
      signed_in_at: "integer?",
      removed_at: "text?",
    });
    await addColumns(database, "tokens", { not_before: "integer?" });
    const { schema } = database;
    const identity = schema.createIndex("users_by_issuer_issuer_subject").on("users");
    await identity.columns(["issuer", "issuer_subject"]).unique().execute();
    // The administrator alone.
    await sql`UPDATE users SET created_at = COALESCE(
      (SELECT MIN(created_at) FROM tokens WHERE user_id = users.id), ''), sign_in = 'token'`.execute(database);
  },
};

/** The failures of simulated rollouts that callers have set. */
const rolloutFailures: Migration = {
  up: (database: Kysely<unknown>) =>
    createTable(database, "rollout_failures", { columns: { position: "integer", json: "text" }, key: ["position"] }),
};

/** Records the groups that an issuer says a user is in, and the group that a team stands for. */
const issuerGroups: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "user_groups", { columns: { member: "text", name: "text" }, key: ["member", "name"] });
    await addColumns(database, "teams", { issuer_group: "text?" });
    await database.schema.createIndex("teams_by_issuer_group").on("teams").columns(["issuer_group"]).execute();
    const { rows } = await sql<{ id: string; json: string }>`SELECT id, json FROM teams`.execute(database);
    for (const { id, json } of rows) {
      const { manifest = {} } = JSON.parse(json);
      const group = (manifest.type === "sso-team" ? manifest.group_name : undefined) ?? manifest.name ?? null;
      await sql`UPDATE teams SET issuer_group = ${group} WHERE id = ${id}`.execute(database);
    }
  },
};

/** When each kind of row that is not kept for ever is pruned next, and how far that has come. */
const retention: Migration = {
  up: (database: Kysely<unknown>) =>
    createTable(database, "retention", { columns: { name: "text", due_at: "integer", after: "text" }, key: ["name"] }),
};

/** Stages whose files go through the server, and these files. */
const stagedFiles: Migration = {
  up: async (database: Kysely<unknown>) => {
    await createTable(database, "file_stages", {
      columns: {
        stage_id: "text",
        expires_at: "integer",
        is_open: "integer",
        is_swept: "integer",
        owner_type: "text",
        owner_id: "text",
        credential: "text",
        made_with: "text",
        files: "integer",
        bytes: "integer",
      },
      key: ["stage_id"],
      indexes: [["is_swept", "is_open", "expires_at"]],
    });
    await createTable(database, "staged_files", {
      columns: {
        stage_id: "text",
        key: "text",
        path: "text",
        file: "text?",
        size: "integer",
        digest: "text",
        created_at: "text",
      },
      key: ["stage_id", "key"],
    });
  },
};

/** E-mails are compared without case: those that manifests name are stored in lower case, as users are. */
const emailsWithoutCase: Migration = {
  up: async (database: Kysely<unknown>) => {
    // In another form than NFKC, an e-mail is nobody's.
    const isOther = (text: string) => text !== text.toLowerCase() && text === text.normalize("NFKC");
    const members = await sql<{ member: string }>`SELECT DISTINCT member FROM team_members`.execute(database);
    for (const { member } of members.rows.filter((row) => isOther(row.member))) {
      await sql`INSERT INTO team_members SELECT team, ${member.toLowerCase()}, position FROM team_members
        WHERE member = ${member} ON CONFLICT DO NOTHING`.execute(database);
      await sql`DELETE FROM team_members WHERE member = ${member}`.execute(database);
    }
    const subjects = await sql<{ subject: string }>`SELECT DISTINCT subject FROM grants
      WHERE subject LIKE 'user:%'`.execute(database);
    for (const { subject } of subjects.rows.filter((row) => isOther(row.subject))) {
      await sql`INSERT INTO grants SELECT source, ${subject.toLowerCase()}, resource_type, resource_fqn, role_id FROM grants
        WHERE subject = ${subject} ON CONFLICT DO NOTHING`.execute(database);
      await sql`DELETE FROM grants WHERE subject = ${subject}`.execute(database);
    }
  },
};

/** The migrations of the control plane's schema. A released migration never changes. */
export const migrations: Migrations = {
  "0001-resources": firstTables,
  "0010-exactly-once": exactlyOnce,
  "0020-job-runs": jobRuns,
  "0040-token-credentials": tokenCredentials,
  "0041-secret-grants": secretGrants,
  "0042-lease-tree": leaseTree,
  "0050-required-texts": requiredTexts,
  "0051-absent-members": absentMembers,
  "0060-root-credentials": rootCredentials,
  "0061-disabled-subjects": disabledSubjects,
  "0070-digests": digests,
  "0081-applications-in-workspace": applicationsInWorkspace,
  "0082-people": people,
  "0083-issuer-groups": issuerGroups,
  "0085-audit-chains": auditChains,
  "0086-audit-of-tokens": auditOfTokens,
  "0088-rollout-failures": rolloutFailures,
  "0089-retention": retention,
  "0090-staged-files": stagedFiles,
  "0091-emails-without-case": emailsWithoutCase,
};

/** Those of a schema in PostgreSQL, which several servers may write. */
export const serverMigrations: Migrations = { ...migrations, "0080-digest-changes": digestChanges };
