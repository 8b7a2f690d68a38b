import { onTestFinished } from "vitest";
import { type Postgres, startPostgres } from "./postgres.ts";

/** A PostgreSQL for one test alone; where none starts, the test is skipped with the reason. */
export async function ownPostgres(skip: (reason: string) => never): Promise<Postgres> {
  const postgres = await startPostgres().catch((error: Error) => error);
  if (postgres instanceof Error) return skip(`PostgreSQL does not start here: ${postgres.message}`);
  onTestFinished(() => postgres[Symbol.asyncDispose]());
  return postgres;
}
