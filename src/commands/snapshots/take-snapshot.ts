import { ClientError, type FailureReason } from "../../client/client-error.ts";
import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { Reader } from "../../client/reader.ts";
import type { Stop } from "../../clock/clock.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import type { ListOperation } from "../../contract/operations.ts";
import { readAccess } from "../../core/access.ts";
import { unseenBy } from "../../core/sight.ts";
import { readWholeList, whyUnread } from "../../engine/observe/observe-everything.ts";
import { kindOf } from "../../kinds/index.ts";
import { namingFields } from "../../model/normal-form.ts";
import { resources } from "../../server/resources/index.ts";
import type { Snapshot } from "../../server/snapshot/snapshot-part.ts";

const IN_FLIGHT = 16;

/** The readable part of a control plane, and one line of text for each part that could not be read. */
export type ReadSnapshot = { readonly snapshot: Snapshot; readonly unseen: readonly string[] };

/** Reads everything that lists return, and by name what no list returns. */
export async function takeSnapshot(reader: Reader, named: readonly JsonObject[], stop: Stop): Promise<ReadSnapshot> {
  const unseen: string[] = [];
  const list = async (name: ListOperation, what: string): Promise<readonly JsonObject[]> => {
    const found = await readWholeList(name, {}, { reader, ...stop });
    if (found.state === "read") return found.rows;
    if (found.state === "failed") requireTolerated(found.error);
    unseen.push(`${what}: ${whyUnread(name, found)}`);
    return [];
  };
  const workspaces = await list("listWorkspaces", "workspaces");
  const applications = await list("listApps", "applications");
  const snapshot: Snapshot = {
    clusters: await clusters(reader, [...named, ...workspaces.map(({ manifest }) => manifest).filter(isObject)], stop),
    workspaces,
    teams: await list("listTeams", "teams"),
    virtualAccounts: await list("listVirtualAccounts", "virtual accounts"),
    mlRepos: await list("listMlRepos", "ml repos"),
    modelVersions: await list("listModelVersions", "model versions"),
    promptVersions: await list("listPromptVersions", "prompt versions"),
    secretGroups: await list("listSecretGroups", "secrets that no manifest names"),
    applications: await readEach(applications, (application) => withDeployments(reader, application, stop)),
  };
  return { snapshot, unseen: [...unseen, ...(await outsideRoles(reader, stop)), ...absentNames(named, snapshot)] };
}

// Lists leave out what the token may not see, and do not say so.
async function outsideRoles(reader: Reader, stop: Stop): Promise<readonly string[]> {
  try {
    const unseen = unseenBy(readAccess(await reader.get("getCaller", {}, stop)));
    return unseen === null ? [] : [unseen];
  } catch (error) {
    requireTolerated(error);
    return [unseenBy(null) ?? ""];
  }
}

// Failures of a single operation, which a snapshot tolerates. An unreachable server or a rejected token fails every operation.
const tolerated: readonly FailureReason[] = ["route-missing", "forbidden", "not-found", "refused"];

function requireTolerated(error: unknown): void {
  if (!(error instanceof ClientError) || !tolerated.includes(error.reason)) throw error;
}

/** The clusters: from their list, or each by its name if the control plane has no list. */
async function clusters(reader: Reader, manifests: readonly JsonObject[], stop: Stop): Promise<readonly JsonObject[]> {
  const listed = await readWholeList("listClusters", {}, { reader, ...stop });
  if (listed.state === "read") return listed.rows;
  if (listed.state === "failed") requireTolerated(listed.error);
  const ids = manifests.flatMap((manifest) => text(manifest.cluster_fqn) ?? idByName(manifest) ?? []);
  const found = await readEach([...new Set(ids)], async (id): Promise<readonly JsonObject[]> => {
    try {
      return [await reader.get("getCluster", { path: { id } }, stop)];
    } catch (error) {
      requireTolerated(error);
      return [];
    }
  });
  return found.flat();
}

// The kind derives the id of a cluster from its name.
function idByName(manifest: JsonObject): string | undefined {
  const kind = kindOf(text(manifest.type) ?? "");
  return kind?.single?.operation === "getCluster" ? kind.single.guessId?.(kind.key(manifest)) : undefined;
}

/** An application with its newest deployment, and with its active one if that differs. */
async function withDeployments(reader: Reader, application: JsonObject, stop: Stop): Promise<JsonObject> {
  const { id, deployment, activeDeploymentId } = application;
  const newest = isObject(deployment) ? [deployment] : await deployments({});
  if (typeof activeDeploymentId !== "string" || newest.some((seen) => seen.id === activeDeploymentId)) {
    return { application, deployments: newest };
  }
  return { application, deployments: [...newest, ...(await deployments({ deploymentId: activeDeploymentId }))] };

  async function deployments(query: { readonly deploymentId?: string }): Promise<readonly JsonObject[]> {
    if (typeof id !== "string") return [];
    try {
      return (await reader.page("listDeployments", { path: { id }, query, limit: 1 }, stop)).rows;
    } catch (error) {
      requireTolerated(error);
      return [];
    }
  }
}

/** The named manifests that are missing from the snapshot, because they do not exist or cannot be read. */
function absentNames(named: readonly JsonObject[], { applications = [], ...lists }: Snapshot): readonly string[] {
  const deployments = applications.flatMap((row) => (Array.isArray(row.deployments) ? row.deployments : []));
  const rows = [...Object.values(lists).flat(), ...deployments].filter(isObject);
  const seen = new Set(rows.flatMap(({ manifest }) => (isObject(manifest) ? [keyOf(manifest)] : [])));
  const absent = named.filter((manifest) => isManaged(manifest) && !seen.has(keyOf(manifest)));
  return absent.map(({ type, name }) => `${text(type)}/${text(name) ?? "without a name"}: named, and found by no read`);
}

const seeded: ReadonlySet<string> = new Set(resources.flatMap(({ seeds }) => Object.keys(seeds ?? {})));

// Applications can have any type; their workspace identifies them.
function isManaged({ type, workspace_fqn: workspace }: JsonObject): boolean {
  return seeded.has(text(type) ?? "") || text(workspace) !== undefined;
}

function keyOf(manifest: JsonObject): string {
  return namingFields.map((field) => text(manifest[field]) ?? "").join(" ");
}

async function readEach<Item, Result>(
  items: readonly Item[],
  read: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  await forEachConcurrently([...items.entries()], IN_FLIGHT, async ([index, item]) => {
    results[index] = await read(item);
  });
  return results;
}
