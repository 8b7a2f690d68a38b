import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";
import { createTable } from "../create-table.ts";

/** The runs of jobs, and the triggers that start a run after a deployment. */
export const jobRuns: Migration = {
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
