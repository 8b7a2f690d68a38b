import { expect, test, vi } from "vitest";
import { replySchemas } from "../../scripts/generate/openapi/component-schemas.ts";
import { type OperationName, operation, operations } from "../../src/contract/operations.ts";
import { Secret } from "../../src/contract/secret.ts";
import { catalogue } from "../../src/server/resources/addon/catalogue.ts";
import { createSimulatedRuns, type RunFailure } from "../../src/server/resources/job-run/simulated-runs.ts";
import { createSimulatedRollouts, type RolloutFailure } from "../../src/server/rollouts/simulated-rollouts.ts";
import { addUser, type Caller, caller, startControlPlane } from "../control-plane.ts";
import { createReplyCheck, documentOf } from "../support/openapi.ts";
import { statement } from "../support/test-database.ts";
import { plantWorkspace, service, workspace } from "./platform.ts";
import { neverSet, type ReplyFields, replyFields } from "./reply-fields.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects, and fails when it is not there
type Body = any;

/** Each operation with what it answers, and one call of it. */
const calls: {
  readonly [name in OperationName]: readonly [keyof typeof replyFields, (world: World) => Promise<Body>];
} = {
  listWorkspaces: ["workspace", get("/api/svc/v1/workspaces")],
  putWorkspace: ["workspace", put("/api/svc/v1/workspaces", { ...workspace, environment_name: "prod" })],
  listSecretDeployments: [
    "deployment",
    ({ admin, secretId }) => read(admin, `/api/svc/v1/secrets/${secretId}/deployments`),
  ],
  createSecretGroup: ["secretGroup", async ({ group }) => group],
  putSecretGroup: ["secretGroup", put("/api/svc/v1/secret-groups", { type: "secret-group", name: "db", secrets: [] })],
  listSecretGroups: ["secretGroup", get("/api/svc/v1/secret-groups")],
  getSecret: ["secret", ({ admin, secretId }) => read(admin, `/api/svc/v1/secrets/${secretId}`)],
  getCluster: ["cluster", get("/api/svc/v1/clusters/c1x")],
  putCluster: ["cluster", put("/api/svc/v1/clusters", { type: "cluster", name: "c2x", cluster_type: "generic" })],
  listClusters: ["cluster", get("/api/svc/v1/clusters")],
  listAddons: ["addon", get("/api/svc/v1/clusters/c1x/get-addons")],
  putApp: ["deployment", async ({ deployments }) => deployments],
  listDeployments: ["deployment", ({ admin, appId }) => read(admin, `/api/svc/v1/apps/${appId}/deployments`)],
  listApps: ["application", get("/api/svc/v1/apps")],
  getJobRun: ["jobRun", ({ admin, jobId }) => read(admin, `/api/svc/v1/jobs/${jobId}/runs/train-1-1`)],
  listJobRuns: ["jobRun", ({ admin, jobId }) => read(admin, `/api/svc/v1/jobs/${jobId}/runs`)],
  getPersonalAccessToken: ["virtualAccount", get("/api/svc/v1/personal-access-tokens/mine")],
  putVirtualAccount: ["virtualAccount", async ({ account }) => account],
  listVirtualAccounts: ["virtualAccount", get("/api/svc/v1/virtual-accounts")],
  putTeam: ["team", put("/api/svc/v1/teams", team())],
  listTeams: ["team", get("/api/svc/v1/teams")],
  listOwnTeams: ["team", ({ member }) => read(member, "/api/svc/v1/teams/user")],
  listMlRepos: ["mlRepo", get("/api/ml/v1/ml-repos")],
  putMlRepo: ["mlRepo", put("/api/svc/v1/ml-repos", { type: "ml-repo", name: "support" })],
  getArtifact: ["artifact", ({ admin, modelId }) => read(admin, `/api/ml/v1/artifacts/${modelId}`)],
  listModelVersions: ["modelVersion", get("/api/ml/v1/model-versions")],
  putModelVersion: ["modelVersion", put("/api/ml/v1/model-versions", model())],
  postModelVersion: ["nothing", ({ admin }) => sent(admin.post("/api/ml/v1/model-versions", { manifest: model() }))],
  listPromptVersions: ["promptVersion", get("/api/ml/v1/prompt-versions")],
  putPromptVersion: ["promptVersion", put("/api/ml/v1/prompt-versions", prompt())],
  stageArtifactVersion: ["stagedArtifact", ({ admin }) => stage(admin)],
  markStageFailure: ["nothing", markFailure],
  getCaller: ["caller", ({ account, callAs }) => read(callAs(account.token), "/api/svc/v1/me")],
  getDigest: ["digest", ({ admin }) => read(admin, "/api/svc/v1/digests")],
  listPersonalAccessTokens: ["personalAccessToken", listTokens],
  revokePersonalAccessToken: ["nothing", revokeToken],
  listAudit: ["audit", listAudit],
  disableSubject: ["nothing", disable],
  putRolloutFailures: [
    "rolloutFailures",
    ({ admin }) =>
      sent(
        admin.put("/api/svc/v1/rollout-failures", {
          failures: [{ match: "service/c1x:ws1/none", failure: "deploy", afterSeconds: 30 }],
        }),
      ),
  ],
  listUsers: ["user", listUsers],
  putUser: ["user", ({ admin }) => sent(admin.put("/api/svc/v1/users", { email: "new@example.com" }))],
  reissueVirtualAccount: [
    "virtualAccount",
    ({ admin, account }) => sent(admin.post(`/api/svc/v1/virtual-accounts/${account.data.name}/reissue`, undefined)),
  ],
  putLease: ["lease", ({ admin }) => sent(admin.put("/api/svc/v1/leases/c1x%3Aws1", { holder: "h", ttlSeconds: 60 }))],
};

type World = {
  readonly url: string;
  readonly data: string;
  readonly admin: Caller;
  readonly member: Caller;
  readonly group: Body;
  readonly secretId: string;
  readonly appId: string;
  readonly deployments: Body;
  readonly jobId: string;
  readonly modelId: string;
  readonly account: Body;
  /** Calls as a holder of a token. */
  readonly callAs: (token: string) => Caller;
};

const seen = new Map<string, Set<string>>();

test("every operation's reply has the fields of its resource, each of its form or absent and never null, and is as the document says", async () => {
  const world = await createWorld();
  const check = createReplyCheck(await documentOf(world.url), Object.keys(replySchemas));
  for (const [name, [resource, call]] of Object.entries(calls)) {
    const body = await call(world);
    const { reply } = operation(name as OperationName);
    const replies = reply === "one" && Array.isArray(body.data) ? body.data.map((data: Body) => ({ data })) : [body];
    for (const one of replies) expect([name, check(name, 200, one)]).toEqual([name, []]);
    const rows = Array.isArray(body.data) ? body.data : [reply === "one" ? body.data : body];
    expect([name, rows.length > 0]).toEqual([name, true]);
    for (const row of rows) checkFields(`${name}: ${resource}`, replyFields[resource], row);
    if (reply === "list") expect(body.pagination).toEqual({ total: rows.length, offset: 0, limit: 100 });
    noteValues(resource, rows);
  }
  expect(Object.keys(calls).toSorted()).toEqual(Object.keys(operations).toSorted());
  for (const [resource, fields] of Object.entries(replyFields)) {
    const missing = Object.keys(fields).filter((path) => !seen.get(resource)?.has(path));
    const unexplained = missing.filter((path) => !neverSet.some((pattern) => pattern.test(path)));
    expect([resource, unexplained]).toEqual([resource, []]);
  }
});

test("no reply but the read of a secret carries a value of one", async () => {
  const world = await createWorld();
  for (const [name, [, call]] of Object.entries(calls)) {
    const text = JSON.stringify(await call(world));
    expect([name, text.includes("canary-value")]).toEqual([name, name === "getSecret"]);
  }
});

function checkFields(label: string, fields: ReplyFields, row: Body): void {
  for (const [path, type] of Object.entries(fields)) {
    for (const value of valuesAt(row, path)) {
      // Whether it may be absent is checked against the document.
      if (value !== undefined && !isOf(type, value)) {
        throw new Error(`${label}: ${path} is ${JSON.stringify(value)}, and not ${type}`);
      }
    }
  }
}

/** Remembers which fields had a value in some reply. */
function noteValues(resource: string, rows: readonly Body[]): void {
  const had = seen.get(resource) ?? new Set();
  seen.set(resource, had);
  for (const path of Object.keys(replyFields[resource as keyof typeof replyFields])) {
    if (rows.some((row) => valuesAt(row, path).some((value) => value !== undefined))) had.add(path);
  }
}

/** All values at a path: none where an object on the way is absent, undefined where the field is. */
function valuesAt(row: Body, path: string): readonly unknown[] {
  const steps = path.replaceAll("[]", ".[]").split(".");
  return steps.reduce<readonly Body[]>(
    (values, step) => {
      const present = values.filter((value) => value !== undefined);
      return present.flatMap((value) => (step === "[]" ? value : [value[step]]));
    },
    [row],
  );
}

function isOf(type: string, value: unknown): boolean {
  if (value === null) return false;
  if (type === "any") return true;
  switch (type) {
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && !Array.isArray(value);
    case "timestamp":
      return typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value);
    default:
      return typeof value === type;
  }
}

function get(path: string) {
  return ({ admin }: World) => read(admin, path);
}

function put(path: string, manifest: object) {
  return ({ admin }: World) => sent(admin.put(path, { manifest }));
}

function read(admin: Caller, path: string): Promise<Body> {
  return sent(admin.get(path));
}

async function sent(reply: ReturnType<Caller["get"]>): Promise<Body> {
  const { status, body } = await reply;
  if (status !== 200) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  return body;
}

function team() {
  return { type: "team", name: "ml", members: ["ann@example.com"] };
}

function model() {
  const framework = { type: "transformers", library_name: "transformers" };
  const source = { type: "external", uri: "s3://models.example/ranker" };
  return { type: "model-version", name: "ranker", ml_repo: "support", run_id: "r1", step: 7, framework, source };
}

function prompt() {
  const messages = [{ role: "system", content: "Be kind." }];
  return { type: "chat_prompt", name: "triage", ml_repo: "support", messages };
}

function stage(admin: Caller): Promise<Body> {
  return sent(admin.post("/api/ml/v1/artifact-versions/stage", { manifest: { ...model(), name: "staged" } }));
}

async function markFailure({ admin }: World): Promise<Body> {
  const { id } = await stage(admin);
  return sent(admin.post("/api/ml/v1/artifact-versions/mark-stage-failure", { id }));
}

/** The tokens of a virtual account, of which one was used. */
async function listTokens({ admin, account, callAs }: World): Promise<Body> {
  const { token } = await read(callAs(account.token), "/api/svc/v1/personal-access-tokens/mine");
  await read(callAs(token), "/api/svc/v1/workspaces");
  return read(admin, "/api/svc/v1/personal-access-tokens?subject=virtualaccount%3Aci");
}

async function revokeToken({ admin }: World): Promise<Body> {
  const { data } = await read(admin, "/api/svc/v1/personal-access-tokens/short-lived");
  return sent(admin.post("/api/svc/v1/personal-access-tokens", { revoke: data.id }));
}

async function disable({ admin }: World): Promise<Body> {
  const permissions = [{ resource_fqn: "holdfast", resource_type: "tenant", role_id: "tenant-member" }];
  const manifest = { type: "virtual-account", name: "leaver", permissions };
  const { data } = await sent(admin.put("/api/svc/v1/virtual-accounts", { manifest }));
  return sent(admin.post("/api/svc/v1/subjects/disable", { subject: `virtualaccount:${data.name}` }));
}

/** A user of each state and sign-in. */
async function listUsers({ admin, data }: World): Promise<Body> {
  const path = "/api/svc/v1/users";
  for (const email of ["ada@example.com", "leaver@example.com"]) await admin.put(path, { email, signIn: "issuer" });
  await statement(
    data,
    "UPDATE users SET issuer = 'https://id.example.com', issuer_subject = slug, signed_in_at = 1 WHERE sign_in = 'issuer'",
  );
  await statement(data, "INSERT INTO user_groups VALUES ('ada@example.com', 'ml')");
  await admin.put(path, { email: "leaver@example.com", remove: true });
  await admin.post("/api/svc/v1/subjects/disable", { subject: "user:ada@example.com" });
  return read(admin, path);
}

/** The audit log with a refused dry run, which is in it within a second. */
async function listAudit({ admin }: World): Promise<Body> {
  await admin.put("/api/svc/v1/clusters", { manifest: { type: "cluster", name: "c3x" }, dryRun: true });
  return vi.waitFor(
    async () => {
      const body = await read(admin, "/api/svc/v1/audit");
      expect(body.data.some(({ outcome }: Body) => outcome === "refused")).toBe(true);
      return body;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const everyone = { subject: "team:everyone", role_id: "ml-repo-viewer" };

/** A control plane in which every field has something to say. */
async function createWorld(): Promise<World> {
  const failures: (RolloutFailure | null)[] = [];
  const runFailures: (RunFailure | null)[] = [];
  const plane = await startControlPlane({
    // Resources of a Helm application are no field of its schema, and recommendations are made from them.
    unknownFields: "allow",
    rollouts: createSimulatedRollouts({ seconds: 0, failures: () => failures[0] ?? null }),
    runs: createSimulatedRuns({ seconds: 0, failures: () => runFailures[0] ?? null }),
  });
  const { admin } = plane;
  await plantWorkspace(admin);
  await sent(admin.put("/api/svc/v1/teams", { manifest: team() }));
  const described = { type: "sso-team", name: "everyone-of-ml", description: "all of us" };
  await sent(admin.put("/api/svc/v1/teams", { manifest: described }));
  await sent(
    admin.put("/api/svc/v1/workspaces", {
      manifest: { ...workspace, environment_name: "prod" },
    }),
  );
  const secrets = [{ key: "password", value: "canary-value" }];
  const group = await sent(admin.post("/api/svc/v1/secret-groups", { name: "db", integrationId: "builtin", secrets }));
  const deploy = (manifest: object, more: object = {}) =>
    sent(admin.put("/api/svc/v1/apps", { manifest: { ...service, ...manifest }, ...more }));
  const app = {
    env: { PASSWORD: "secret://holdfast:db:password" },
    image: {
      type: "build",
      build_source: { type: "remote", remote_uri: "https://example.com/a.tgz" },
      build_spec: { type: "dockerfile", dockerfile_path: "Dockerfile", build_context_path: ".", command: "serve" },
    },
  };
  const resources = (cpu_request: number) => ({
    resources: { cpu_request, cpu_limit: 8, memory_request: 1, memory_limit: 9 },
  });
  failures[0] = "deploy";
  await deploy({ ...app, ...resources(0.1) });
  failures[0] = null;
  const fresh = await deploy({ ...app, ...resources(2) });
  failures[0] = "build";
  const failed = await deploy({ ...app, ...resources(2) });
  failures[0] = null;
  for (const request of [0.1, 2]) await deploy({ name: "eager", ...resources(request) });
  failures[0] = "stuck";
  const stuck = await deploy({ name: "web" });
  const helm = catalogue.find(({ name }) => name === "KEDA");
  const source = {
    type: "helm-repo",
    repo_url: helm?.repoUrl,
    chart: helm?.chart,
    version: helm?.releases[1]?.version,
  };
  failures[0] = null;
  await deploy({
    type: "helm",
    name: "keda",
    source: { ...source, integration_fqn: "acme:charts" },
    values: {},
    kustomize: { patch: {}, additions: [] },
    image: undefined,
    // What an addon recommends is what its application does.
    ...resources(1),
  });
  runFailures[0] = { exitCode: 1, error: "it failed" };
  const job = await deploy({ ...app, type: "job", name: "train" }, { triggerOnDeploy: true });
  await sent(admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "support" } }));
  const open = { type: "ml-repo", name: "open", collaborators: [everyone] };
  await sent(admin.put("/api/svc/v1/ml-repos", { manifest: open }));
  const version = await sent(admin.put("/api/ml/v1/model-versions", { manifest: model() }));
  await sent(admin.put("/api/ml/v1/prompt-versions", { manifest: prompt() }));
  const account = await sent(
    admin.put("/api/svc/v1/virtual-accounts", {
      manifest: {
        type: "virtual-account",
        name: "ci",
        permissions: [{ resource_type: "workspace", resource_fqn: "c1x:ws1", role_id: "workspace-viewer" }],
        expiration_date: "2999-12-31",
        auto_rotate: { auto_rotate_interval: 30, grace_period: 1 },
      },
    }),
  );
  return {
    url: plane.url,
    data: plane.data,
    admin,
    member: await addUser(plane, "ann@example.com"),
    group,
    secretId: group.data.associatedSecrets[0].id,
    appId: fresh.data.applicationId,
    deployments: { data: [fresh.data, failed.data, stuck.data] },
    jobId: job.data.applicationId,
    modelId: version.data.model_id,
    account,
    callAs: (token) => caller(plane.url, new Secret(token)),
  };
}
