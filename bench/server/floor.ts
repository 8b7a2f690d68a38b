import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { fastify } from "fastify";
import { isObject } from "../../src/contract/json.ts";

/**
 * The least that could serve the same: bare handlers on the same tables, with the same SELECT of stored JSON text and
 * the same rows in one durable transaction. No caller is known, nothing is checked.
 */
const [, , file = ""] = process.argv;
const database = new DatabaseSync(file, { timeout: 5000 });
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
const app = fastify();

const page = database.prepare("SELECT json FROM workspaces ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?");
app.get("/list", async (request, reply) => {
  const { limit = 100, offset = 0 } = request.query as { readonly limit?: number; readonly offset?: number };
  const rows = page.all(Number(limit), Number(offset)).map(({ json }) => json);
  return reply.type("application/json").send(`{"data":[${rows.join(",")}]}`);
});

const cluster = database.prepare("SELECT json FROM clusters WHERE id = ?");
app.get("/clusters/:id", async (request, reply) => {
  const { id } = request.params as { readonly id: string };
  return reply.type("application/json").send(`{"data":${cluster.get(id)?.json}}`);
});

const findApplication = database.prepare("SELECT id, json FROM applications WHERE fqn = ?");
const putDeployment = database.prepare(
  "INSERT INTO deployments (id, created_at, json, application_id, version, is_over, look_at) VALUES (?, ?, ?, ?, ?, 1, NULL)",
);
const putApplication = database.prepare(
  `INSERT INTO applications
     (id, created_at, json, fqn, name, type, workspace_id, last_deployment_id, active_deployment_id)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT (id) DO UPDATE SET json = excluded.json, last_deployment_id = excluded.last_deployment_id,
     active_deployment_id = excluded.active_deployment_id`,
);
const putAudit = database.prepare("INSERT INTO audit (id, at, principal, operation, resource) VALUES (?, ?, ?, ?, ?)");
const workspace = database.prepare("SELECT json FROM workspaces WHERE fqn = ?");

// What stands in a deployment and an application besides the manifest, as the control plane answered it once.
const [sample] = database.prepare("SELECT json FROM deployments LIMIT 1").all();
const [sampleApplication] = database.prepare("SELECT json FROM applications LIMIT 1").all();
const deploymentFrame = JSON.parse(String(sample?.json));
const applicationFrame = JSON.parse(String(sampleApplication?.json));

app.put("/apps", async (request, reply) => {
  const { manifest } = request.body as { readonly manifest: { readonly name: string; readonly workspace_fqn: string } };
  const { name, workspace_fqn } = manifest;
  const fqn = `${workspace_fqn}:${name}`;
  const now = new Date().toISOString();
  const id = randomUUID();
  database.exec("BEGIN");
  const { id: workspaceId } = JSON.parse(String(workspace.get(workspace_fqn)?.json));
  const known = findApplication.get(fqn);
  const before: unknown = known === undefined ? null : JSON.parse(String(known.json));
  const version = isObject(before) ? Number(before.lastVersion) + 1 : 1;
  const applicationId = String(known?.id ?? randomUUID());
  const application = { ...applicationFrame, id: applicationId, fqn, name, lastVersion: version, lastDeploymentId: id };
  const deployment = { ...deploymentFrame, id, fqn: `${fqn}:${version}`, applicationId, version, manifest };
  const text = JSON.stringify(deployment);
  putDeployment.run(id, now, text, applicationId, version);
  putApplication.run(
    ...[applicationId, now, JSON.stringify(application), fqn, name, "service", String(workspaceId), id, id],
  );
  putAudit.run(randomUUID(), now, "user:admin", "16", `service/${fqn}`);
  database.exec("COMMIT");
  return reply.type("application/json").send(`{"data":${text}}`);
});

const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`listening on ${url}\n`);
