import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Client } from "pg";
import { inject, onTestFinished } from "vitest";
import { TEMPLATE } from "./one-postgres.ts";

/** A row as a test looks at it. */
type Row = { readonly [column: string]: unknown };

// By data folder: one that is started again finds the same database.
const inUse = new Map<string, string>();
// As the template is. To make one takes six times as long as to empty it.
const unused: string[] = [];

/** The PostgreSQL database that belongs to a data folder, made when absent; null where the data is in SQLite. */
export async function databaseOf(data: string, template = TEMPLATE): Promise<string | null> {
  const server = serverUrl();
  if (server === null) return null;
  const known = inUse.get(data);
  if (known !== undefined) return urlOf(server, known);
  const name = (template === TEMPLATE ? unused.pop() : undefined) ?? (await createDatabase(server, template));
  inUse.set(data, name);
  onTestFinished(async () => {
    inUse.delete(data);
    await query(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
    // Others go with the whole server: to drop one waits for a checkpoint of all that the tests have written.
    if (template === TEMPLATE && (await isEmptied(urlOf(server, name)))) unused.push(name);
  });
  return urlOf(server, name);
}

async function createDatabase(server: string, template: string): Promise<string> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await query(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  return name;
}

const EMPTY = `
  DO $$
  DECLARE name text;
  BEGIN
    SET LOCAL session_replication_role = replica; -- in any order, whatever refers to what
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
      IF name <> ALL (ARRAY['kysely_migration', 'kysely_migration_lock', 'lease_numbers']) THEN
        EXECUTE format('DELETE FROM %I', name);
      END IF;
    END LOOP;
    UPDATE lease_numbers SET number = '0';
  END $$`;

const STATE = `
  SELECT jsonb_build_array(
    (SELECT jsonb_agg(format('%s %s %s %s', relkind, oid::regclass, attnum, attname || atttypid::regtype || attnotnull)
       ORDER BY relkind, oid::regclass::text, attnum)
     FROM pg_class JOIN pg_attribute ON attrelid = oid WHERE relnamespace = 'public'::regnamespace AND attnum > 0),
    (SELECT jsonb_agg(tgname ORDER BY tgname) FROM pg_trigger WHERE NOT tgisinternal),
    (SELECT jsonb_agg(name ORDER BY name) FROM kysely_migration),
    (SELECT jsonb_agg(to_jsonb(lease_numbers) ORDER BY name) FROM lease_numbers),
    (SELECT count(*) FROM pg_db_role_setting WHERE setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))
  )::text AS state`;

// False if it is no longer like the template, such as after a test that changed its schema.
async function isEmptied(url: string): Promise<boolean> {
  const state = await connected(url, async (client) => {
    await client.query(EMPTY);
    return stateOn(client);
  });
  return state === (await templateState(url));
}

let ofTemplate: Promise<unknown> | undefined;

function templateState(url: string): Promise<unknown> {
  ofTemplate ??= connected(urlOf(url, TEMPLATE), stateOn);
  return ofTemplate;
}

async function stateOn(client: Client): Promise<unknown> {
  const { rows } = await client.query<Row>(STATE);
  return rows[0]?.state;
}

/** Runs a statement (parameters are `?`) in the database of a data folder, beside the control plane. */
export async function statement(
  data: string,
  text: string,
  parameters: readonly SQLInputValue[] = [],
): Promise<readonly Row[]> {
  const server = serverUrl();
  const name = inUse.get(data);
  if (server !== null && name !== undefined) {
    let count = 0;
    const numbered = text.replaceAll("?", () => {
      count += 1;
      return `$${count}`;
    });
    return query(urlOf(server, name), numbered, parameters);
  }
  using database = new DatabaseSync(join(data, "control-plane.db"), { timeout: 60_000 });
  return database.prepare(text).all(...parameters);
}

/** All that is kept of a data folder, as text. */
export async function everything(data: string): Promise<string> {
  if (serverUrl() === null) return readFile(join(data, "control-plane.db"), "latin1");
  const tables = await statement(data, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  const rows = await Promise.all(tables.map(({ tablename }) => statement(data, `SELECT * FROM "${tablename}"`)));
  return JSON.stringify(rows);
}

async function query(url: string, text: string, parameters: readonly unknown[] = []): Promise<readonly Row[]> {
  return connected(url, async (client) => (await client.query<Row>(text, [...parameters])).rows);
}

async function connected<Result>(url: string, use: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function serverUrl(): string | null {
  const postgres = inject("postgres");
  return postgres !== undefined && "url" in postgres ? postgres.url : null;
}

function urlOf(server: string, name: string): string {
  return URL.parse(name, server)?.href ?? "";
}
