import type { ClientError } from "../../client/client-error.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import type { GetOperation, ListOperation } from "../../contract/operations.ts";
import { type Check, needed, refusalOf, requireTelling } from "./check.ts";
import { type ConformContext, failureOf, listedSecrets } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";
import { callOf } from "./read-checks.ts";

const ABSENT_LISTS = [
  "listSecretDeployments",
  "listDeployments",
  "listAddons",
] as const satisfies readonly ListOperation[];
const NAMED = ["listWorkspaces", "listPromptVersions", "listModelVersions"] as const satisfies readonly ListOperation[];
const ABSENT_GETS = ["getCluster", "getArtifact", "getJobRun"] as const satisfies readonly GetOperation[];

// Those of a rollout in progress; a failed or finished one is told apart by its status too.
const STATUSES: readonly string[] = [
  ...["INITIALIZED", "BUILDING", "BUILD_SUCCESS", "BUILD_FAILED", "ROLLOUT_STARTED", "SET_TRAFFIC", "DEPLOY_SUCCESS"],
  ...["DEPLOY_FAILED", "DEPLOY_FAILED_WITH_RETRY", "PAUSED", "FAILED", "CANCELLED", "REDEPLOY_STARTED"],
];

const read = { level: "read", part: "semantics" } as const;

/** The checks of what single resources, tokens and refusals are like. */
export const resourceChecks: readonly Check[] = [
  {
    ...{ ...read, check: "deployment-filters", part: "interface", operations: ["listDeployments"] },
    asserts: "`version` and `deploymentId` narrow the deployments of an application to one",
    without: "it follows the wrong rollout",
    find: async (context) => {
      const { page, applicationId } = context;
      const path = { id: await applicationId() };
      const oldest = (await deployments(context)).at(-1);
      if (oldest === undefined) throw new NotCheckableError(NO_DEPLOYMENT);
      const { id, version } = oldest;
      if (text(id) === undefined || typeof version !== "number")
        throw new NotCheckableError("a deployment has no id, or no version");
      for (const query of [{ version: String(version) }, { deploymentId: text(id) ?? "" }]) {
        const { rows } = await page("listDeployments", { path, query, limit: 100 });
        if (rows.length !== 1 || rows[0]?.id !== id)
          return `${JSON.stringify(query)} answers ${rows.length} deployments`;
      }
      return null;
    },
  },
  {
    ...{ ...read, check: "deployments-newest-first", operations: ["listDeployments"] },
    asserts: "the deployments of an application are listed newest first",
    without: "it may take an older deployment for live",
    required: true,
    find: async (context) => {
      const versions = (await deployments(context)).flatMap(({ version }) =>
        typeof version === "number" ? version : [],
      );
      if (versions.length < 2)
        throw new NotCheckableError("the application has fewer than two deployments with a version");
      const isOrdered = versions.every((version, at) => at === 0 || version < (versions[at - 1] ?? 0));
      return isOrdered ? null : `versions are listed as ${versions.slice(0, 5).join(", ")}`;
    },
  },
  {
    ...{ ...read, check: "rollout-status", operations: ["listDeployments"] },
    asserts: "a deployment has a currentStatus whose status is known, or whose state.isTerminalState is a boolean",
    without: "it cannot tell when a rollout ends, and waits for it until --wait-timeout",
    find: async (context) => {
      const [newest] = await deployments(context);
      if (newest === undefined) throw new NotCheckableError(NO_DEPLOYMENT);
      const current = isObject(newest.currentStatus) ? newest.currentStatus : {};
      const { state } = current;
      if (isObject(state) && typeof state.isTerminalState === "boolean") return null;
      const status = text(current.status);
      if (status === undefined) return "the newest deployment has no currentStatus.status";
      return STATUSES.includes(status) ? null : `the status ${status} is not known, and has no state`;
    },
  },
  {
    ...{ ...read, check: "status-history", operations: ["listDeployments"] },
    asserts: "deploymentStatuses is oldest first",
    without: "nothing: it reads currentStatus",
    find: async (context) => {
      const all = await deployments(context);
      const [statuses] = all.map(statusesOf).filter(({ length }) => length > 1);
      if (statuses === undefined) throw new NotCheckableError("no deployment has two statuses");
      const times = statuses.flatMap(({ createdAt }) => text(createdAt) ?? []);
      if (times.length < 2) throw new NotCheckableError("statuses have no createdAt");
      return times.every((time, at) => at === 0 || time >= (times[at - 1] ?? "")) ? null : "it is not in that order";
    },
  },
  {
    ...{ ...read, check: "cluster-names", operations: ["getCluster"] },
    asserts: "a cluster's id, fqn and name are the same string",
    without: "clusters are not found by the name that manifests have for them",
    find: async ({ reader, clusterId, signal }) => {
      const asked = reader.get("getCluster", { path: { id: await clusterId() } }, { signal });
      const { id, fqn, name } = await needed(asked, "the cluster cannot be read");
      if ([id, fqn, name].some((value) => typeof value !== "string"))
        throw new NotCheckableError("a cluster has no id, fqn or name");
      return id === name && fqn === name ? null : `id ${id}, fqn ${fqn} and name ${name} differ`;
    },
  },
  {
    ...{ ...read, check: "fqns", operations: NAMED },
    asserts: "a workspace's fqn is cluster:name, and that of a version ends with its name and :version",
    without: "references in manifests do not resolve: plans say that workspaces are absent",
    find: async ({ rows, notListed }) => {
      const workspaces = await rows("listWorkspaces");
      const versions = [...(await rows("listPromptVersions")), ...(await rows("listModelVersions"))];
      const all = [...workspaces.flatMap(workspaceFault), ...versions.flatMap(versionFault)];
      if (all.length === 0) throw await notListed("no workspace or version is listed with its names", NAMED);
      return all.find((fault) => fault !== null) ?? null;
    },
  },
  {
    ...{ ...read, check: "absent", operations: [...ABSENT_LISTS, ...ABSENT_GETS] },
    asserts: "an id that does not exist is answered 404",
    without: "it cannot conclude that something is absent, and plans are incomplete",
    find: absentFault,
  },
  {
    ...{ ...read, check: "error-body", operations: ["getCluster"] },
    asserts: "a refusal is JSON that has a message",
    without: "errors name the status alone, and not why",
    find: async (context) => {
      const refusal = await refusalOf(
        context.reader.get("getCluster", { path: { id: context.unusedName } }, { signal: context.signal }),
      );
      if (refusal?.status == null || refusal.status < 400 || refusal.status >= 500)
        throw new NotCheckableError(`nothing is refused: an id that does not exist ${answerOf(refusal)}`);
      await requireTelling(refusal, context);
      if (refusal.reason === "route-missing")
        throw new NotCheckableError(`it has no such operation: ${refusal.message}`);
      return / answered \d+: ./.test(refusal.message) ? null : `a refusal has no message: ${refusal.message}`;
    },
  },
  {
    ...{ ...read, check: "bad-token", operations: ["listWorkspaces"] },
    asserts: "a token that was never issued is answered 401",
    without: "it takes a wrong token for one that sees nothing, and may create what exists",
    required: true,
    find: async (context) => {
      const { stranger, signal } = context;
      const refusal = await failureOf(stranger.page("listWorkspaces", { limit: 1 }, { signal }));
      if (refusal?.status === 401) return null;
      await requireTelling(refusal, context);
      if (refusal !== null && refusal.status === null) throw refusal;
      return `it ${answerOf(refusal)}`;
    },
  },
  {
    ...{ ...read, check: "server-time", operations: ["listWorkspaces"] },
    asserts: "replies have a Date header",
    without: "it cannot tell whether what cannot be read existed before its own write",
    find: async ({ list, serverTime }) => {
      await failureOf(list("listWorkspaces"));
      return serverTime() === null ? "no reply had one" : null;
    },
  },
  {
    ...{ ...read, check: "secret-values", operations: ["listSecretGroups"] },
    asserts: "lists of secret groups have no values",
    without: "nothing: it never shows a value of a reply. Whoever may list them can read them",
    find: async ({ list }) => {
      const groups = await needed(list("listSecretGroups"), "secret groups are not listed");
      const secrets = groups.rows.flatMap(listedSecrets);
      if (secrets.length === 0) throw new NotCheckableError("no secret is listed that this token sees");
      return secrets.some((secret) => "value" in secret) ? "a secret in a list has a value" : null;
    },
  },
];

async function deployments(context: ConformContext): Promise<readonly JsonObject[]> {
  return (await needed(context.deployments(), "the deployments cannot be read")).rows;
}

function statusesOf({ deploymentStatuses }: JsonObject): readonly JsonObject[] {
  return Array.isArray(deploymentStatuses) ? deploymentStatuses.filter(isObject) : [];
}

const NO_DEPLOYMENT = "the application has no deployment";

function answerOf(refusal: ClientError | null): string {
  return `is answered ${refusal?.status ?? "with success"}`;
}

// What has no name is for the check of its list.
function workspaceFault({ fqn, manifest }: JsonObject): string | null | readonly [] {
  const { cluster_fqn, name } = isObject(manifest) ? manifest : {};
  if ([fqn, cluster_fqn, name].some((value) => text(value) === undefined)) return [];
  return fqn === `${cluster_fqn}:${name}` ? null : `the workspace ${name} of ${cluster_fqn} has the fqn ${fqn}`;
}

function versionFault({ fqn, manifest }: JsonObject): string | null | readonly [] {
  const { name, version } = isObject(manifest) ? manifest : {};
  if (text(fqn) === undefined || text(name) === undefined || !Number.isSafeInteger(version)) return [];
  const isSo = text(fqn)?.endsWith(`/${name}:${version}`) === true;
  return isSo ? null : `version ${version} of ${name} has the fqn ${fqn}`;
}

const UNTOLD: readonly ClientError["reason"][] = ["route-missing", "route-unclear", "forbidden", "server-error"];

async function absentFault(context: ConformContext): Promise<string | null> {
  const { page, reader, signal, unusedName } = context;
  const path = { id: unusedName, jobId: unusedName, jobRunName: unusedName };
  const requests = [
    ...ABSENT_LISTS.map((name) => ({ name, ask: () => page(name, { path, limit: 1 }) })),
    ...ABSENT_GETS.map((name) => ({ name, ask: () => reader.get(name, { path }, { signal }) })),
  ];
  let checked = 0;
  let untold: ClientError | null = null;
  for (const { name, ask } of requests) {
    const refusal = await refusalOf(ask());
    // 403 says that the token may not ask, and a server that fails says nothing of what exists.
    if (refusal !== null && UNTOLD.includes(refusal.reason)) {
      untold ??= refusal;
      continue;
    }
    await requireTelling(refusal, context);
    checked += 1;
    if (refusal?.status !== 404) return `${callOf(name)}: it ${answerOf(refusal)}`;
  }
  if (checked === 0) throw new NotCheckableError(`nothing can be read by its id: ${untold?.message}`);
  return null;
}
