import { OpenAPIClientAxios } from "openapi-client-axios";
import { expect, test } from "vitest";
import { replySchemas } from "../../scripts/generate/openapi/component-schemas.ts";
import { caller, startControlPlane } from "../control-plane.ts";
import { createReplyCheck, documentOf, routesOf } from "../support/openapi.ts";

type Parameters = Readonly<Record<string, string | number | readonly (string | number)[]>>;
// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
type Call = (operationId: string, parameters?: Parameters | null, body?: unknown) => Promise<any>;

/** A client made of the document alone; each reply is held to the document. */
async function clientOf(url: string, token: string) {
  const document = await documentOf(url);
  const api = new OpenAPIClientAxios({
    definition: structuredClone(document) as never,
    withServer: { url },
    axiosConfigDefaults: {
      headers: { authorization: `Bearer ${token}` },
      validateStatus: () => true,
      paramsSerializer: { indexes: null },
    },
  });
  const client = await api.getClient();
  const check = createReplyCheck(document, Object.keys(replySchemas));
  const used = new Set<string>();
  const send = async (operationId: string, parameters: Parameters | null, body: unknown) => {
    used.add(operationId);
    const method = client[operationId];
    if (method === undefined) throw new TypeError(`the client has no ${operationId}`);
    const { status, data } = await method(parameters as never, body);
    expect([operationId, check(operationId, status, data)]).toEqual([operationId, []]);
    return { status, data };
  };
  const call: Call = async (operationId, parameters = null, body = undefined) => {
    const { status, data } = await send(operationId, parameters, body);
    expect([operationId, status, data]).toEqual([operationId, 200, data]);
    return data;
  };
  const example = (operationId: string): { readonly manifest: Readonly<Record<string, unknown>> } =>
    routesOf(document).find(({ operation }) => operation.operationId === operationId)?.operation.requestBody?.content[
      "application/json"
    ].example as never;
  return { document, call, send, example, used };
}

test("a client built from the document uses every operation, and every reply is as the document says", async () => {
  const { url, adminToken } = await startControlPlane();
  const { document, call, send, example, used } = await clientOf(url, adminToken.open());

  // Platform: the document's own examples fit together.
  await call("putCluster", null, { ...example("putCluster"), dryRun: true });
  await call("putCluster", null, example("putCluster"));
  await call("putWorkspace", null, { ...example("putWorkspace"), dryRun: true });
  const workspace = (await call("putWorkspace", null, example("putWorkspace"))).data;
  expect((await call("listWorkspaces", { clusterId: "prod-eu", limit: 1 })).data).toEqual([workspace]);
  expect((await call("getCluster", { id: workspace.clusterId })).data.id).toBe("prod-eu");
  expect((await call("listClusters")).pagination.total).toBe(1);
  expect((await call("listAddons", { id: "prod-eu" })).data.length).toBeGreaterThan(0);

  const group = (await call("createSecretGroup", null, example("createSecretGroup"))).data;
  const [secret] = group.associatedSecrets;
  await call("putSecretGroup", null, {
    manifest: { ...example("putSecretGroup").manifest, secrets: [{ key: "db-password", value: "other" }] },
  });
  expect((await call("getSecret", { id: secret.id })).data.value).toBe("other");
  expect((await call("listSecretGroups", { fqn: group.fqn })).data).toHaveLength(1);

  // Applications.
  const { manifest } = example("putApp");
  await call("putApp", null, { manifest, dryRun: true });
  const env = { DB_PASSWORD: `secret://${secret.fqn}` };
  const deployment = (await call("putApp", null, { manifest: { ...manifest, env } })).data;
  const id = deployment.applicationId;
  await expect.poll(async () => (await call("listSecretDeployments", { id: secret.id })).data.length).toBe(1);
  expect((await call("listDeployments", { id, version: "1" })).data[0].id).toBe(deployment.id);
  expect((await call("listApps", { workspaceFqn: workspace.fqn, applicationType: "service" })).data[0].id).toBe(id);

  const job = { ...manifest, type: "job", name: "nightly" };
  const jobId = (await call("putApp", null, { manifest: job, triggerOnDeploy: true })).data.applicationId;
  await expect.poll(async () => (await call("listJobRuns", { jobId })).data[0]?.status).toBe("FINISHED");
  const [run] = (await call("listJobRuns", { jobId })).data;
  expect((await call("getJobRun", { jobId, jobRunName: run.name })).data).toEqual(run);

  // People and machines.
  await call("putTeam", null, { ...example("putTeam"), dryRun: true });
  await call("putTeam", null, example("putTeam"));
  expect((await call("listTeams")).data).toHaveLength(1);
  await call("listOwnTeams");
  const account = await call("putVirtualAccount", null, example("putVirtualAccount"));
  expect(account.token).toEqual(expect.any(String));
  expect((await call("listVirtualAccounts")).data).toHaveLength(1);
  expect(await call("getPersonalAccessToken", { name: "laptop" })).toMatchObject({ created: true });
  expect(await call("getPersonalAccessToken", { name: "laptop" })).not.toHaveProperty("token");
  expect((await call("getCaller")).data).toMatchObject({ subject: "user:admin", tenantName: "holdfast" });
  expect((await call("getDigest", { prefix: "team/" })).data).toMatchObject({ count: 1 });
  const [listed] = (await call("listPersonalAccessTokens", { subject: "user:admin" })).data;
  expect(listed).toMatchObject({ name: "laptop", createdWith: expect.stringMatching(/^user-token\/bootstrap-/) });
  expect(await call("revokePersonalAccessToken", null, { revoke: listed.id })).toEqual({});
  await call("putVirtualAccount", null, { manifest: { ...example("putVirtualAccount").manifest, name: "leaver" } });
  expect((await call("reissueVirtualAccount", { name: "leaver" })).token).toEqual(expect.any(String));
  expect(await call("disableSubject", null, { subject: "virtualaccount:leaver" })).toEqual({});
  const rules = example("putRolloutFailures");
  expect((await call("putRolloutFailures", null, rules)).data).toEqual(rules);
  await call("putRolloutFailures", null, { failures: [] });
  expect(await call("putUser", null, example("putUser"))).toMatchObject({ created: true, token: expect.any(String) });
  expect((await call("listAudit", { subject: "user:admin" })).data.length).toBeGreaterThan(0);
  expect((await call("listUsers", { subject: "user:ada@example.com" })).data).toHaveLength(1);
  const lease = (await call("putLease", { scope: "prod-eu:ranking" }, example("putLease"))).data;
  expect(lease.fencingToken).toEqual(expect.any(Number));

  // Registry.
  const repo = (await call("putMlRepo", null, example("putMlRepo"))).data;
  await call("putMlRepo", null, { manifest: { type: "ml-repo", name: "support" } });
  expect((await call("listMlRepos", { name: "ranking" })).data).toHaveLength(1);
  const prompt = (await call("putPromptVersion", null, example("putPromptVersion"))).data;
  expect((await call("listPromptVersions", { prompt_id: prompt.prompt_id, version: 1 })).data).toEqual([prompt]);
  expect(await call("postModelVersion", null, example("postModelVersion"))).toEqual({});
  const model = (await call("putModelVersion", null, example("putModelVersion"))).data;
  const filtered = await call("listModelVersions", { ml_repo_id: repo.id, run_ids: ["a", "b"], run_steps: [1, 2] });
  expect(filtered.data).toEqual([]);
  for (const artifactId of [model.model_id, prompt.prompt_id]) await call("getArtifact", { id: artifactId });
  const staged = await call("stageArtifactVersion", null, {
    manifest: { type: "artifact-version", name: "logs", ml_repo: "ranking" },
  });
  expect(await call("markStageFailure", null, { id: staged.id })).toEqual({});
  expect((await call("listModelVersions")).data).toHaveLength(1);

  expect([...used].toSorted()).toEqual(
    routesOf(document)
      .map(({ operation }) => operation.operationId)
      .toSorted(),
  );

  // Refusals have the document's form too.
  const refused = [
    await send("getCluster", { id: "absent" }, undefined),
    await send("putCluster", null, { manifest: { type: "cluster" } }),
    await send("putCluster", null, { manifest: 1 }),
    await send("listWorkspaces", { limit: 0 }, undefined),
    await send("createSecretGroup", null, example("createSecretGroup")),
  ];
  expect(refused.map(({ status }) => status)).toEqual([404, 422, 400, 400, 409]);
  expect((await caller(url, adminToken).get("/api/svc/v1/workspaces")).status).toBe(200);
});
