import { systemClock, systemRandom } from "../../src/clock/system.ts";
import { createIdGenerator } from "../../src/server/database/id-generator.ts";
import { insertsInto, openToFill, take } from "../server/grow.ts";
import { serviceName } from "./repository.ts";

const CHUNK = 100_000;

/**
 * Gives the workspaces of a control plane that does not run as many services as their repositories declare: copies of its
 * one service, since so many writes over HTTP would take the whole day.
 */
export function fillControlPlane(file: string, workspaces: readonly string[], services: number): void {
  using database = openToFill(file);
  const application = take(database, "applications");
  const deployment = take(database, "deployments");
  database.exec("DELETE FROM digests WHERE prefix LIKE 'service/%'");
  const ids = new Map(
    database
      .prepare("SELECT id, name FROM workspaces")
      .all()
      .map(({ id, name }) => [String(name), String(id)]),
  );
  const { addApplication, addDeployment } = insertsInto(database);
  const addDigest = database.prepare("INSERT INTO digests (prefix, name, marker) VALUES (?, ?, ?)");
  const newId = createIdGenerator(systemClock, systemRandom);
  const at = new Date(systemClock.now()).toISOString();
  let added = 0;
  for (const workspace of workspaces) {
    const place = { workspaceId: ids.get(workspace), workspaceFqn: `bench:${workspace}` };
    for (let nth = 0; nth < services; nth += 1) {
      const [id, last, name] = [newId(), newId(), serviceName(nth)];
      const fqn = `${place.workspaceFqn}:${name}`;
      const image_uri = `registry.example.com/${workspace}/${name}:1.0.0`;
      const { image, ...manifest } = deployment.manifest;
      const declared = { ...manifest, name, workspace_fqn: place.workspaceFqn, image: { ...image, image_uri } };
      const made = { ...deployment, id: last, fqn: `${fqn}:1`, applicationId: id, manifest: declared };
      addDeployment.run(last, at, JSON.stringify(made), id, 1);
      const shown = { ...application, id, name, fqn, ...place, lastDeploymentId: last, activeDeploymentId: last };
      addApplication.run(id, at, JSON.stringify(shown), fqn, name, String(place.workspaceId), last, last);
      addDigest.run(`service/${place.workspaceFqn}/`, name, nth);
      added += 1;
      if (added % CHUNK === 0) database.exec("COMMIT; BEGIN");
    }
  }
  database.exec("COMMIT; PRAGMA journal_mode = WAL");
}
