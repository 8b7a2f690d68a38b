import createClient from "openapi-fetch";
import type { paths } from "./build/openapi-typescript.ts";

type Reply<Data> = { readonly data?: Data; readonly error?: unknown };

/** Calls every operation through a client that openapi-typescript types, and fails when one is refused. */
export async function callEveryOperation(baseUrl: string, fetch: typeof globalThis.fetch): Promise<void> {
  const client = createClient<paths>({ baseUrl, fetch });

  const me = await done(client.GET("/api/svc/v1/me"));
  text(me.data.roles[0]?.role);
  await done(
    client.PUT("/api/svc/v1/clusters", {
      body: { manifest: { type: "cluster", name: "prod-eu", cluster_type: "aws-eks" } },
    }),
  );
  const changed = await done(client.GET("/api/svc/v1/digests", { params: { query: { prefix: "cluster/" } } }));
  text(changed.data.digest);
  const cluster = await done(client.GET("/api/svc/v1/clusters/{id}", { params: { path: { id: "prod-eu" } } }));
  await done(client.GET("/api/svc/v1/clusters", { params: { query: { limit: 10 } } }));
  const path = { id: cluster.data.name };
  const addons = await done(client.GET("/api/svc/v1/clusters/{id}/get-addons", { params: { path } }));
  text(addons.data[0]?.upgrades.desiredManifest.source.chart);
  await done(
    client.PUT("/api/svc/v1/workspaces", {
      body: { manifest: { type: "workspace", name: "ranking", cluster_fqn: "prod-eu" }, dryRun: false },
    }),
  );
  const workspaces = await done(client.GET("/api/svc/v1/workspaces", { params: { query: { name: "ranking" } } }));
  const workspace_fqn = text(workspaces.data[0]?.fqn);

  const group = await done(
    client.POST("/api/svc/v1/secret-groups", {
      body: { name: "platform", integrationId: "builtin", secrets: [{ key: "db-password", value: "x" }] },
    }),
  );
  await done(
    client.PUT("/api/svc/v1/secret-groups", {
      body: {
        manifest: { type: "secret-group", name: "platform", secrets: [{ key: "db-password", value: "y" }] },
      },
    }),
  );
  await done(client.GET("/api/svc/v1/secret-groups"));
  const secretId = text(group.data.associatedSecrets[0]?.id);
  const secret = await done(client.GET("/api/svc/v1/secrets/{id}", { params: { path: { id: secretId } } }));
  await done(client.GET("/api/svc/v1/secrets/{id}/deployments", { params: { path: { id: secretId } } }));

  const service = await done(
    client.PUT("/api/svc/v1/apps", {
      body: {
        manifest: {
          type: "service",
          name: "ranker",
          workspace_fqn,
          image: {
            type: "build",
            build_source: { type: "git", repo_url: "https://git.example.com/ranker", ref: "main" },
            build_spec: { type: "dockerfile", dockerfile_path: "Dockerfile", build_context_path: "." },
          },
          env: { DB_PASSWORD: `secret://${secret.data.fqn}` },
          mounts: [{ type: "secret", mount_path: "/etc/password", secret_fqn: secret.data.fqn }],
          rollout_strategy: { type: "rolling_update", max_unavailable_percentage: 0, max_surge_percentage: 25 },
        },
      },
    }),
  );
  const id = text(service.data.applicationId);
  const deployments = await done(client.GET("/api/svc/v1/apps/{id}/deployments", { params: { path: { id } } }));
  text(deployments.data[0]?.currentStatus?.status);
  await done(client.GET("/api/svc/v1/apps", { params: { query: { workspaceFqn: workspace_fqn } } }));
  const image = { type: "image", image_uri: "registry.example.com/train:1" };
  const job = await done(
    client.PUT("/api/svc/v1/apps", {
      body: { manifest: { type: "job", name: "nightly", workspace_fqn, image }, triggerOnDeploy: true },
    }),
  );
  const jobId = text(job.data.applicationId);
  const listRuns = () => done(client.GET("/api/svc/v1/jobs/{jobId}/runs", { params: { path: { jobId } } }));
  let runs = await listRuns();
  while (runs.data.length === 0) runs = await listRuns();
  const run = { jobId, jobRunName: text(runs.data[0]?.name) };
  await done(client.GET("/api/svc/v1/jobs/{jobId}/runs/{jobRunName}", { params: { path: run } }));

  const team = await done(
    client.PUT("/api/svc/v1/teams", {
      body: { manifest: { type: "team", name: "ml-platform", members: ["ada@example.com"] } },
    }),
  );
  text(team.data.manifest.name);
  await done(client.GET("/api/svc/v1/teams"));
  await done(client.GET("/api/svc/v1/teams/user"));
  const permission = { resource_type: "workspace", resource_fqn: workspace_fqn, role_id: "workspace-viewer" };
  const account = await done(
    client.PUT("/api/svc/v1/virtual-accounts", {
      body: { manifest: { type: "virtual-account", name: "ci", permissions: [permission] } },
    }),
  );
  text(account.token);
  await done(client.GET("/api/svc/v1/virtual-accounts"));
  const name = { name: "laptop" };
  const token = await done(client.GET("/api/svc/v1/personal-access-tokens/{name}", { params: { path: name } }));
  await done(client.GET("/api/svc/v1/personal-access-tokens"));
  await done(client.POST("/api/svc/v1/personal-access-tokens", { body: { revoke: text(token.data.id) } }));
  await done(client.PUT("/api/svc/v1/rollout-failures", { body: { failures: [] } }));
  const ci = { params: { path: { name: "ci" } } };
  text((await done(client.POST("/api/svc/v1/virtual-accounts/{name}/reissue", ci))).token);
  await done(client.POST("/api/svc/v1/subjects/disable", { body: { subject: "virtualaccount:ci" } }));
  await done(client.PUT("/api/svc/v1/users", { body: { email: "ada@example.com", displayName: "Ada Lovelace" } }));
  await done(client.GET("/api/svc/v1/audit", { params: { query: { subject: "user:admin" } } }));
  await done(client.GET("/api/svc/v1/users", { params: { query: { subject: "user:ada@example.com" } } }));
  await done(
    client.PUT("/api/svc/v1/leases/{scope}", {
      params: { path: { scope: workspace_fqn } },
      body: { holder: "ci", ttlSeconds: 60 },
    }),
  );

  await done(client.PUT("/api/svc/v1/ml-repos", { body: { manifest: { type: "ml-repo", name: "ranking" } } }));
  await done(client.GET("/api/ml/v1/ml-repos"));
  const prompt = await done(
    client.PUT("/api/ml/v1/prompt-versions", {
      body: {
        manifest: {
          type: "chat_prompt",
          name: "triage",
          ml_repo: "ranking",
          messages: [{ role: "system", content: "Be kind." }],
          response_format: { type: "json_object" },
        },
      },
    }),
  );
  await done(client.GET("/api/ml/v1/prompt-versions"));
  const model = { type: "model-version", name: "ranker", ml_repo: "ranking" } as const;
  await done(client.POST("/api/ml/v1/model-versions", { body: { manifest: model } }));
  await done(
    client.PUT("/api/ml/v1/model-versions", {
      body: { manifest: { ...model, source: { type: "external", uri: "s3://models.example/ranker" } } },
    }),
  );
  await done(client.GET("/api/ml/v1/model-versions", { params: { query: { run_steps: [1, 2] } } }));
  await done(client.GET("/api/ml/v1/artifacts/{id}", { params: { path: { id: prompt.data.prompt_id } } }));
  const stage = await done(
    client.POST("/api/ml/v1/artifact-versions/stage", {
      body: { manifest: { type: "artifact-version", name: "logs", ml_repo: "ranking" } },
    }),
  );
  const file = { stage: text(stage.storage_root.split("/").at(-1)), path: "a.bin" };
  await done(
    client.PUT("/api/ml/v1/staged/{stage}/{path}", {
      params: { path: file },
      body: "x",
      bodySerializer: (body) => body,
      headers: { "content-type": "application/octet-stream" },
    }),
  );
  const files = await done(client.GET("/api/ml/v1/staged/{stage}", { params: { path: file } }));
  text(files.data[0]?.digest);
  await done(client.GET("/api/ml/v1/staged/{stage}/{path}", { params: { path: file }, parseAs: "text" }));
  await done(client.POST("/api/ml/v1/artifact-versions/mark-stage-failure", { body: { id: stage.id } }));
}

async function done<Data>(call: Promise<Reply<Data>>): Promise<Data> {
  const { data, error } = await call;
  if (data === undefined) throw new Error(`refused: ${JSON.stringify(error)}`);
  return data;
}

function text(value: string | null | undefined): string {
  if (typeof value !== "string") throw new TypeError("the reply lacks a text");
  return value;
}
