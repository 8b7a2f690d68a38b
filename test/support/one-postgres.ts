import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { Secret } from "../../src/contract/secret.ts";
import { serverMigrations } from "../../src/server/database/migrations.ts";
import { openPostgresStore } from "../../src/store/postgres/open.ts";
import { machine } from "./machine.ts";
import { startPostgres } from "./postgres.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The PostgreSQL that control planes keep their data in, or why there is none; absent where they use SQLite. */
    readonly postgres: { readonly url: string } | { readonly reason: string } | undefined;
  }
}

/** The database that those of tests are copies of. */
export const TEMPLATE = "holdfast_template";

/** Starts one PostgreSQL for a whole project of tests. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    const postgres = await startPostgres();
    await makeTemplate(postgres.url);
    project.provide("postgres", { url: postgres.url });
    return async () => {
      await postgres[Symbol.asyncDispose]();
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`No tests on PostgreSQL: it does not start here (${reason})\n`);
    project.provide("postgres", { reason });
    return async () => {};
  }
}

async function makeTemplate(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE}`);
  await client.end();
  const template = URL.parse(TEMPLATE, url);
  const store = await openPostgresStore(new Secret(template?.href ?? ""), serverMigrations, machine);
  await store.close();
}
