import { createClient } from "./build/hey-api/client/index.ts";
import * as api from "./build/hey-api/index.ts";

/** Calls every operation through a client that `@hey-api/openapi-ts` makes, and fails when one is refused. */
export async function callEveryOperation(baseUrl: string, fetch: typeof globalThis.fetch): Promise<void> {
  const options = { client: createClient({ baseUrl, fetch }), throwOnError: true } as const;

  const me = await api.getCaller(options);
  text(me.data.data.roles[0]?.role);
  await api.putCluster({
    ...options,
    body: { manifest: { type: "cluster", name: "prod-eu", cluster_type: "aws-eks" } },
  });
  const changed = await api.getDigest({ ...options, query: { prefix: "cluster/" } });
  text(changed.data.data.digest);
  const cluster = await api.getCluster({ ...options, path: { id: "prod-eu" } });
  await api.listClusters({ ...options, query: { limit: 10 } });
  const addons = await api.listAddons({ ...options, path: { id: cluster.data.data.name } });
  text(addons.data.data[0]?.upgrades.desiredManifest.source.chart);
  await api.putWorkspace({
    ...options,
    body: { manifest: { type: "workspace", name: "ranking", cluster_fqn: "prod-eu" }, dryRun: false },
  });
  const workspaces = await api.listWorkspaces({ ...options, query: { name: "ranking" } });
  const workspace_fqn = text(workspaces.data.data[0]?.fqn);

  const secrets = [{ key: "db-password", value: "x" }];
  const group = await api.createSecretGroup({
    ...options,
    body: { name: "platform", integrationId: "builtin", secrets },
  });
  await api.putSecretGroup({ ...options, body: { manifest: { type: "secret-group", name: "platform", secrets } } });
  await api.listSecretGroups(options);
  const path = { id: text(group.data.data.associatedSecrets[0]?.id) };
  const secret = await api.getSecret({ ...options, path });
  await api.listSecretDeployments({ ...options, path });

  const { fqn } = secret.data.data;
  const service = await api.putApp({
    ...options,
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
        env: { DB_PASSWORD: `secret://${fqn}` },
        mounts: [{ type: "secret", mount_path: "/etc/password", secret_fqn: fqn }],
        rollout_strategy: { type: "rolling_update", max_unavailable_percentage: 0, max_surge_percentage: 25 },
      },
    },
  });
  const deployments = await api.listDeployments({ ...options, path: { id: text(service.data.data.applicationId) } });
  text(deployments.data.data[0]?.currentStatus?.status);
  await api.listApps({ ...options, query: { workspaceFqn: workspace_fqn } });
  const image = { type: "image", image_uri: "registry.example.com/train:1" };
  const job = await api.putApp({
    ...options,
    body: { manifest: { type: "job", name: "nightly", workspace_fqn, image }, triggerOnDeploy: true },
  });
  const jobId = text(job.data.data.applicationId);
  let runs = await api.listJobRuns({ ...options, path: { jobId } });
  while (runs.data.data.length === 0) runs = await api.listJobRuns({ ...options, path: { jobId } });
  await api.getJobRun({ ...options, path: { jobId, jobRunName: text(runs.data.data[0]?.name) } });

  const team = await api.putTeam({
    ...options,
    body: { manifest: { type: "team", name: "ml-platform", members: ["ada@example.com"] } },
  });
  text(team.data.data.manifest.name);
  await api.listTeams(options);
  await api.listOwnTeams(options);
  const permission = { resource_type: "workspace", resource_fqn: workspace_fqn, role_id: "workspace-viewer" };
  const account = await api.putVirtualAccount({
    ...options,
    body: { manifest: { type: "virtual-account", name: "ci", permissions: [permission] } },
  });
  text(account.data.token);
  await api.listVirtualAccounts(options);
  const token = await api.getPersonalAccessToken({ ...options, path: { name: "laptop" } });
  await api.listPersonalAccessTokens(options);
  await api.revokePersonalAccessToken({ ...options, body: { revoke: text(token.data.data.id) } });
  await api.putRolloutFailures({ ...options, body: { failures: [] } });
  const reissued = await api.reissueVirtualAccount({ ...options, path: { name: "ci" } });
  text(reissued.data.token);
  await api.disableSubject({ ...options, body: { subject: "virtualaccount:ci" } });
  const person = await api.putUser({ ...options, body: { email: "ada@example.com", signIn: "token" } });
  text(person.data.token);
  await api.listAudit({ ...options, query: { subject: "user:admin" } });
  await api.listUsers({ ...options, query: { subject: person.data.data.subject } });
  await api.putLease({ ...options, path: { scope: workspace_fqn }, body: { holder: "ci", ttlSeconds: 60 } });

  await api.putMlRepo({ ...options, body: { manifest: { type: "ml-repo", name: "ranking" } } });
  await api.listMlRepos(options);
  const prompt = await api.putPromptVersion({
    ...options,
    body: {
      manifest: {
        type: "chat_prompt",
        name: "triage",
        ml_repo: "ranking",
        messages: [{ role: "system", content: "Be kind." }],
        response_format: { type: "json_object" },
      },
    },
  });
  await api.listPromptVersions(options);
  const model = { type: "model-version", name: "ranker", ml_repo: "ranking" } as const;
  await api.postModelVersion({ ...options, body: { manifest: model } });
  const source = { type: "external", uri: "s3://models.example/ranker" } as const;
  await api.putModelVersion({ ...options, body: { manifest: { ...model, source } } });
  await api.listModelVersions({ ...options, query: { run_steps: [1, 2] } });
  await api.getArtifact({ ...options, path: { id: prompt.data.data.prompt_id } });
  const stage = await api.stageArtifactVersion({
    ...options,
    body: { manifest: { type: "artifact-version", name: "logs", ml_repo: "ranking" } },
  });
  const file = { stage: text(stage.data.storage_root.split("/").at(-1)), path: "a.bin" };
  await api.putStagedFile({ ...options, path: file, body: new Blob(["x"]) });
  const files = await api.listStagedFiles({ ...options, path: file });
  text(files.data.data[0]?.digest);
  await api.getStagedFile({ ...options, path: file });
  await api.markStageFailure({ ...options, body: { id: stage.data.id } });
}

function text(value: string | null | undefined): string {
  if (typeof value !== "string") throw new TypeError("the reply lacks a text");
  return value;
}
