import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { createTable } from "../create-table.ts";

/** Records which virtual accounts and users never get a token again. */
export const disabledSubjects: Migration = {
  up: (database: Kysely<unknown>) =>
    createTable(database, "disabled_subjects", { columns: { subject: "text", disabled_at: "text" }, key: ["subject"] }),
};
