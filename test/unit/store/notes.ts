import type { Kysely } from "kysely";
import type { Migrations } from "../../../src/store/migrate.ts";

/** A row of the tests' own. */
export type Note = { readonly id: number; readonly text: string | null };

/** The database that tests of stores use. */
export type Tables = { readonly notes: Note };

/** Its schema. */
export const migrations: Migrations = {
  "0001-notes": {
    up: async (database: Kysely<unknown>) => {
      await database.schema
        .createTable("notes")
        .addColumn("id", "integer", (column) => column.primaryKey())
        .addColumn("text", "text")
        .execute();
    },
  },
};

/** The same with five more steps, a column each. */
export const sixSteps: Migrations = {
  ...migrations,
  ...Object.fromEntries(
    [2, 3, 4, 5, 6].map((nth) => [
      `000${nth}-column`,
      {
        up: async (database: Kysely<unknown>) => {
          await database.schema.alterTable("notes").addColumn(`column_${nth}`, "text").execute();
        },
      },
    ]),
  ),
};
