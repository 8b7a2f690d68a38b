import { DatabaseSync } from "node:sqlite";
import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { createIdGenerator } from "../../src/server/database/id-generator.ts";

/** How much there is of everything. */
export type Amount = { readonly workspaces: number; readonly applications: number; readonly deployments: number };

const START = Date.parse("2026-01-01T00:00:00Z");

/**
 * Fills the tables of a control plane that does not run with copies of its one application and deployment, since a
 * million writes over HTTP would take the whole day.
 */
export function grow(file: string, { workspaces, applications, deployments }: Amount): void {
  using database = openToFill(file);
  const application = take(database, "applications");
  const deployment = take(database, "deployments");
  const rows = database.prepare("SELECT id, fqn FROM workspaces ORDER BY name").all();
  const { addApplication, addDeployment } = insertsInto(database);
  let now = START;
  const newId = createIdGenerator({ ...systemClock, now: () => now }, systemRandom);
  for (let nth = 0; nth < applications; nth += 1) {
    const workspace = rows[nth % workspaces];
    const id = newId();
    const name = `app-${nth}`;
    const fqn = `${workspace?.fqn}:${name}`;
    let last = "";
    for (let version = 1; version <= deployments; version += 1) {
      now += 1;
      last = newId();
      const json = { ...deployment, id: last, fqn: `${fqn}:${version}`, version, applicationId: id };
      addDeployment.run(last, new Date(now).toISOString(), JSON.stringify(json), id, version);
    }
    const changing = { lastDeploymentId: last, activeDeploymentId: last, lastVersion: deployments };
    const place = { workspaceId: workspace?.id, workspaceFqn: workspace?.fqn };
    const json = JSON.stringify({ ...application, id, name, fqn, ...place, ...changing, activeVersion: deployments });
    const at = new Date(now).toISOString();
    addApplication.run(id, at, json, fqn, name, String(workspace?.id), last, last);
  }
  database.exec("COMMIT; PRAGMA journal_mode = WAL");
}

/** Opens the tables of a control plane that does not run, in a transaction: a crash may lose everything. */
export function openToFill(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; BEGIN");
  return database;
}

/** The statements that add an application, and a deployment that is over. */
export function insertsInto(database: DatabaseSync) {
  const addApplication = database.prepare(
    `INSERT INTO applications
       (id, created_at, json, fqn, name, type, workspace_id, last_deployment_id, active_deployment_id)
     VALUES (?, ?, ?, ?, ?, 'service', ?, ?, ?)`,
  );
  const addDeployment = database.prepare(
    `INSERT INTO deployments (id, created_at, json, application_id, version, is_over, look_at)
     VALUES (?, ?, ?, ?, ?, 1, NULL)`,
  );
  return { addApplication, addDeployment };
}

/** The first row of a table as an object, which is taken out. */
export function take(database: DatabaseSync, table: "applications" | "deployments") {
  const [row] = database.prepare(`SELECT json FROM ${table} LIMIT 1`).all();
  database.exec(`DELETE FROM ${table}`);
  return JSON.parse(String(row?.json));
}
