import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Client } from "pg";
import { inject, onTestFinished } from "vitest";
import { TEMPLATE } from "./one-postgres.ts";

/** A row as a test looks at it. */
type Row = { readonly [column: string]: unknown };

/** The PostgreSQL database that belongs to a data folder, made when absent; null where the data is in SQLite. */
export async function databaseOf(data: string, template = TEMPLATE): Promise<string | null> {
  const server = serverUrl();
  if (server === null) return null;
  const name = nameOf(data);
  const made = await query(server, "SELECT 1 FROM pg_database WHERE datname = $1", [name]);
  if (made.length === 0) {
    await query(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
    onTestFinished(async () => void (await query(server, `DROP DATABASE ${name} WITH (FORCE)`)));
  }
  return urlOf(server, name);
}

/** Runs a statement (parameters are `?`) in the database of a data folder, beside the control plane. */
export async function statement(
  data: string,
  text: string,
  parameters: readonly SQLInputValue[] = [],
): Promise<readonly Row[]> {
  const server = serverUrl();
  if (server !== null) {
    let count = 0;
    const numbered = text.replaceAll("?", () => {
      count += 1;
      return `$${count}`;
    });
    return query(urlOf(server, nameOf(data)), numbered, parameters);
  }
  using database = new DatabaseSync(join(data, "control-plane.db"), { timeout: 5000 });
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
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...parameters])).rows;
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

// A folder that is started again finds the same database.
function nameOf(data: string): string {
  return `test_${createHash("sha256").update(data).digest("hex").slice(0, 20)}`;
}
