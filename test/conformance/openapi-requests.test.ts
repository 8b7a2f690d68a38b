import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import fc from "fast-check";
import { expect, test } from "vitest";
import { replySchemas } from "../../scripts/generate/openapi/component-schemas.ts";
import { type Caller, startControlPlane } from "../control-plane.ts";
import { requestsOf, type WireRequest } from "../support/arbitrary-request.ts";
import { createReplyCheck, documentOf, routesOf } from "../support/openapi.ts";

const batches = Number(process.env.HOLDFAST_FUZZ_BATCHES ?? 400);
const seed = Number(process.env.HOLDFAST_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

// What any path may answer before an operation is found.
const beforeAnyOperation: readonly string[] = ["route-not-found", "path-too-long"];

/** Makes what the document's examples refer to; answers the ids of it all, and the token of somebody who may only look. */
async function plant(admin: Caller): Promise<{ readonly ids: readonly string[]; readonly viewer: string }> {
  const put = async (path: string, manifest: object) => (await admin.put(path, { manifest })).body.data;
  await put("/api/svc/v1/clusters", { type: "cluster", name: "prod-eu", cluster_type: "aws-eks" });
  await put("/api/svc/v1/workspaces", { type: "workspace", name: "ranking", cluster_fqn: "prod-eu" });
  for (const name of ["ranking", "support"]) await put("/api/svc/v1/ml-repos", { type: "ml-repo", name });
  for (const name of ["ml-platform", "ranking"]) {
    await put("/api/svc/v1/teams", { type: "team", name, members: ["ada@example.com"] });
  }
  const secrets = [{ key: "db-password", value: "x" }];
  const group = await admin.post("/api/svc/v1/secret-groups", { name: "platform", integrationId: "builtin", secrets });
  const image = { type: "image", image_uri: "registry.example.com/ranker:1.4.2" };
  const service = await put("/api/svc/v1/apps", {
    type: "service",
    name: "ranker",
    workspace_fqn: "prod-eu:ranking",
    image,
  });
  const job = await put("/api/svc/v1/apps", { type: "job", name: "nightly", workspace_fqn: "prod-eu:ranking", image });
  const model = await put("/api/ml/v1/model-versions", { type: "model-version", name: "ranker", ml_repo: "ranking" });
  const stage = await admin.post("/api/ml/v1/artifact-versions/stage", {
    manifest: { type: "artifact-version", name: "logs", ml_repo: "ranking" },
  });
  const permission = { resource_fqn: "prod-eu:ranking", resource_type: "workspace", role_id: "workspace-viewer" };
  const manifest = { type: "virtual-account", name: "looker", permissions: [permission] };
  const { token } = (await admin.put("/api/svc/v1/virtual-accounts", { manifest })).body;
  const secret = group.body.data.associatedSecrets[0].id;
  const apps = [service.applicationId, job.applicationId];
  return { ids: ["prod-eu", "laptop", "nightly-1-1", secret, ...apps, model.model_id, stage.body.id], viewer: token };
}

test(`no request fails the server, and every reply is as the document says (seed ${seed})`, {
  timeout: batches * 500 + 120_000,
}, async () => {
  const { url, admin, adminToken } = await startControlPlane();
  const document = await documentOf(url);
  const check = createReplyCheck(document, Object.keys(replySchemas));
  const { ids, viewer } = await plant(admin);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const statuses = new Map<number, number>();

  const send = async ({ method, path, headers, body }: WireRequest, token: string) => {
    const authorization = token === "" ? {} : { authorization: `Bearer ${token}` };
    const sent = request(url + path, { method, agent, headers: { ...headers, ...authorization } }).end(
      body ?? undefined,
    );
    const [reply]: [IncomingMessage] = (await once(sent, "response")) as [IncomingMessage];
    return { status: reply.statusCode ?? 0, type: reply.headers["content-type"], body: JSON.parse(await text(reply)) };
  };
  const holds = async ({ wanted, token }: { readonly wanted: WireRequest; readonly token: string }) => {
    const { status, body, type } = await send(wanted, token);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expect([status < 500, type?.startsWith("application/json")]).toEqual([true, true]);
    if (beforeAnyOperation.includes(body.code))
      expect(body).toMatchObject({ statusCode: status, message: expect.any(String) });
    else expect([status, check(wanted.operationId, status, body)]).toEqual([status, []]);
  };

  const token = fc.oneof(
    { weight: 12, arbitrary: fc.constant(adminToken.open()) },
    { weight: 3, arbitrary: fc.constant(viewer) },
    { weight: 1, arbitrary: fc.constantFrom("", "not-a-token", `${viewer}x`) },
  );
  const requests = routesOf(document).map((route) => requestsOf(document, route, ids));
  // Several at a time, so that they meet each other.
  const batch = fc.array(fc.record({ wanted: fc.oneof(...requests), token }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(batch, async (together) => void (await Promise.all(together.map(holds)))),
    { seed, numRuns: batches },
  );
  agent.destroy();

  // The requests were neither all refused nor all accepted.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 403, 404, 415, 422]));
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  for (const { path, method, operation } of routesOf(document)) {
    if (method !== "get" || path.includes("{")) continue;
    const { status, body } = await admin.get(`${path}?limit=1000`);
    expect([path, status, check(operation.operationId, status, body)]).toEqual([path, 200, []]);
  }
});
