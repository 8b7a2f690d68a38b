import { systemRandom } from "../../src/clock/system.ts";
import { isDocumented, type OperationName, operation, operations } from "../../src/contract/operations.ts";
import { conformChecks } from "../../src/engine/conform/run-checks.ts";
import type { Defect, PassedReply, PassedRequest } from "./defective-server.ts";

/** The checks for which no request is known that has no effect: they are named, and never made. */
export const NEVER_MADE: readonly string[] = [
  "extension-E13",
  "extension-E16",
  "extension-E17-put",
  "extension-E19",
  "extension-E20",
];

const isOf = (name: OperationName, { method, path }: PassedRequest): boolean => {
  const row = operation(name);
  const form = new RegExp(`^${row.path.replace(/\{\w+\}/g, "[^/]+")}$`);
  return row.method === method && form.test(path);
};

/** A defect in the successful replies of an operation. */
function inReply(name: OperationName, change: (reply: PassedReply, request: PassedRequest) => void): Defect {
  return {
    reply: (reply, request) => {
      if (isOf(name, request) && reply.status < 300) change(reply, request);
    },
  };
}

function inRequest(name: OperationName, change: (request: PassedRequest) => void): Defect {
  return { request: (request) => (isOf(name, request) ? change(request) : undefined) };
}

const onRequest = (change: (request: PassedRequest) => void): Defect => ({ request: change });
const onReply = (change: (reply: PassedReply, request: PassedRequest) => void): Defect => ({ reply: change });

const withoutLimit = (name: OperationName): Defect => inReply(name, ({ body }) => delete body.pagination.limit);
const without = (name: OperationName, field: string): Defect => inReply(name, ({ body }) => delete body.data[field]);
const otherId = (name: OperationName): Defect =>
  inReply(name, ({ body }, request) => {
    if (request.body.dryRun === true) body.data.id = "another";
  });
const moving = (name: OperationName): Defect =>
  inReply(name, ({ body }) => {
    body.data.updatedAt = new Date().toISOString();
  });

const isFirstPage = ({ query }: PassedRequest): boolean => query.get("limit") === "100";
const another = (): string => `another-${systemRandom.id()}`;

/** A defect for each check, which breaks what it asserts. */
export const conformDefects: { readonly [check: string]: Defect } = {
  workspaces: withoutLimit("listWorkspaces"),
  "secret-deployments": withoutLimit("listSecretDeployments"),
  cluster: without("getCluster", "fqn"),
  artifact: without("getArtifact", "fqn"),
  "job-run": without("getJobRun", "status"),
  deployments: withoutLimit("listDeployments"),
  addons: withoutLimit("listAddons"),
  "prompt-versions": inReply("listPromptVersions", ({ body }) => delete body.data[0].manifest),
  "model-versions": inReply("listModelVersions", ({ body }) => delete body.data[0].fqn),
  "ml-repos": inReply("listMlRepos", ({ body }) => delete body.pagination),
  "list-limit": onRequest(({ query }) => {
    if (query.get("limit") === "1") query.set("limit", "10");
  }),
  "list-offset": onRequest(({ query }) => query.delete("offset")),
  "list-past-end": onReply(({ body }, { query }) => {
    if (Number(query.get("offset")) >= 1000) body.pagination.total = 0;
  }),
  "list-range": onRequest(({ query }) => {
    if (query.get("limit") === "0") query.set("limit", "1");
  }),
  "list-order": onReply(({ body }, request) => {
    if (isFirstPage(request) && Array.isArray(body.data)) body.data.reverse();
  }),
  "list-repeatable": (() => {
    let reads = 0;
    return onReply(({ body }, request) => {
      if (!isFirstPage(request) || !Array.isArray(body.data) || body.data.length < 2) return;
      reads += 1;
      if (reads % 2 === 0) body.data.reverse();
    });
  })(),
  "list-unknown-parameter": onReply((reply, { query }) => {
    if (!query.has("holdfast_conform")) return;
    reply.status = 400;
    reply.body = { statusCode: 400, message: "an unknown parameter" };
  }),
  "list-filters": onRequest(({ query }) => query.delete("fqn")),
  "list-filters-exact": (() => {
    let prefix = "";
    return {
      request: ({ query }) => {
        prefix = query.get("fqn") ?? "";
        query.delete("fqn");
      },
      reply: ({ body }) => {
        if (Array.isArray(body.data)) {
          body.data = body.data.filter(({ fqn = "" }: { readonly fqn?: string }) => fqn.startsWith(prefix));
        }
      },
    };
  })(),
  "deployment-filters": onRequest(({ query }) => query.delete("version")),
  "deployments-newest-first": inReply("listDeployments", ({ body }) => body.data.reverse()),
  "rollout-status": inReply("listDeployments", ({ body }) => {
    for (const row of body.data) row.currentStatus = { status: "ODD" };
  }),
  "status-history": inReply("listDeployments", ({ body }) => {
    for (const row of body.data) row.deploymentStatuses.reverse();
  }),
  "cluster-names": inReply("getCluster", ({ body }) => {
    body.data.id = "5f0c";
  }),
  fqns: inReply("listWorkspaces", ({ body }) => {
    for (const row of body.data) row.fqn = row.name;
  }),
  absent: onReply((reply) => {
    if (reply.status === 404) reply.status = 422;
  }),
  "error-body": onReply((reply) => {
    if (reply.status === 404) reply.body = { statusCode: 404 };
  }),
  "bad-token": onReply((reply) => {
    if (reply.status !== 401) return;
    reply.status = 200;
    reply.body = { data: [], pagination: { total: 0, offset: 0, limit: 1 } };
  }),
  "server-time": onReply(({ headers }) => delete headers.date),
  "secret-values": inReply("listSecretGroups", ({ body }) => {
    for (const group of body.data) for (const secret of group.associatedSecrets) secret.value = "shown";
  }),
  "dry-run": inRequest("putApp", ({ body }) => delete body.dryRun),
  "dry-run-reply": inReply("putApp", ({ body }) => {
    body.data.version += 5;
  }),
  "dry-run-refuses": onReply((reply) => {
    if (reply.status === 422) reply.status = 400;
  }),
  "unknown-field": inRequest("putApp", ({ body }) => delete body.manifest.holdfast_conform),
  "dry-run-cluster": otherId("putCluster"),
  "dry-run-account": otherId("putVirtualAccount"),
  "dry-run-team": otherId("putTeam"),
  "dry-run-workspace": otherId("putWorkspace"),
  "dry-run-ml-repo": otherId("putMlRepo"),
  application: inReply("listDeployments", ({ body }) => {
    for (const row of body.data) row.id = "another";
  }),
  "deployment-in-progress": inRequest("putApp", ({ body }) => {
    body.forceDeploy = true;
  }),
  "rollout-ends": inReply("listDeployments", ({ body }) => {
    for (const row of body.data) row.currentStatus = { status: "ROLLOUT_STARTED", state: { isTerminalState: false } };
  }),
  "identical-deployment": inReply("putApp", ({ body }) => {
    body.data.version = 1;
  }),
  replaces: inReply("listDeployments", ({ body }) => {
    for (const row of body.data) row.manifest.env = { CONFORM: "1" };
  }),
  fencing: onRequest(({ headers }) => delete headers["x-fencing-token"]),
  prompt: inReply("listPromptVersions", ({ body }, { query }) => {
    if (query.has("fqn")) body.data = [];
  }),
  "identical-prompt": inRequest("putPromptVersion", ({ body }) => {
    body.manifest.messages[0].content += another();
  }),
  "immutable-prompt": onReply((reply) => {
    if (reply.status === 409) reply.status = 400;
  }),
  model: inReply("listModelVersions", ({ body }, { query }) => {
    if (query.has("fqn")) body.data = [];
  }),
  "model-registered": onReply((reply, request) => {
    if (isOf("postModelVersion", request)) reply.status = 422;
  }),
  "model-registers": inReply("listModelVersions", ({ body }) => {
    body.data = [];
  }),
  stage: inReply("stageArtifactVersion", ({ body }) => delete body.storage_root),
  "idempotency-key": onRequest(({ headers }) => delete headers["idempotency-key"]),
  "stage-failure": onReply((reply, request) => {
    if (isOf("markStageFailure", request)) reply.status = 409;
  }),
  "secret-group": {
    ...inRequest("createSecretGroup", ({ body }) => {
      body.name = another();
    }),
    ...inReply("createSecretGroup", ({ body }) => {
      body.data.associatedSecrets[0].value = "shown";
    }),
  },
  "secret-group-taken": inRequest("createSecretGroup", ({ body }) => {
    body.name = another();
  }),
  "personal-token": inReply("getPersonalAccessToken", ({ body }) => {
    body.created = true;
    body.token = "a token";
  }),
  "cluster-written": without("putCluster", "id"),
  "account-written": without("putVirtualAccount", "id"),
  "team-written": without("putTeam", "id"),
  "account-token": inReply("putVirtualAccount", ({ body }) => {
    body.token = "a token";
  }),
  "identical-cluster": moving("putCluster"),
  "identical-account": moving("putVirtualAccount"),
  "identical-team": moving("putTeam"),
  ...Object.fromEntries(extensionDefects()),
};

/** Each extension is missing. */
function extensionDefects(): readonly (readonly [string, Defect])[] {
  const made = conformChecks.filter(({ check }) => check.startsWith("extension-") && !NEVER_MADE.includes(check));
  return made.map(({ check, operations: [name] }) => {
    if (name === undefined || !(name in operations) || isDocumented(operation(name))) throw new TypeError(check);
    const missing = onReply((reply, request) => {
      if (!isOf(name, request)) return;
      reply.status = 404;
      const message = `Cannot ${request.method} ${request.path}`;
      reply.body = { statusCode: 404, code: "route-not-found", message };
    });
    return [check, missing] as const;
  });
}
