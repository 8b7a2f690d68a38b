import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/contract/json.ts";
import { type OperationName, operation, operations } from "../../src/contract/operations.ts";
import type { Caller } from "../control-plane.ts";
import {
  clusterRoles,
  manifests,
  type Place,
  places,
  plantWorld,
  type Role,
  repoRoles,
  roles,
  type SignIn,
  type World,
} from "../support/access-fixtures.ts";

const everyone: readonly Role[] = roles;
const administrators: readonly Role[] = [];
const seeCluster: readonly Role[] = [...clusterRoles, "account"];
const writeWorkspace: readonly Role[] = ["cluster-admin", "workspace-admin", "workspace-editor", "workspace-member"];
const seeWorkspace: readonly Role[] = [...writeWorkspace, "cluster-member", "workspace-viewer"];
const writeRepo: readonly Role[] = ["ml-repo-admin", "ml-repo-editor"];
const seeTeam: readonly Role[] = ["manager", "member"];

/** What a row asks for: as a caller, of the resources of a place. */
type Ask = (caller: Caller, place: Place, world: World) => Promise<{ readonly status: number }>;

/** One operation on one resource. */
type Row = {
  readonly name: OperationName;
  readonly what?: string;
  readonly ask: Ask;
  /** The same without a dry run, where `ask` is one. */
  readonly write?: Ask;
  /** Who besides the tenant's administrators may, where it is their own. */
  readonly allowed: readonly Role[];
  /** What all others hear: who sees the resource but may not, and who does not see it. */
  readonly refused: { readonly seen: number; readonly unseen: number };
  readonly sees?: readonly Role[];
  /** What the administrator hears where nothing is. */
  readonly absent: number;
};

const svc = "/api/svc/v1";
const ml = "/api/ml/v1";
const hidden = { seen: 404, unseen: 404 };
const denied = { seen: 403, unseen: 403 };
// A place that is named inside of a manifest.
const dangling = { seen: 403, unseen: 422 };

const put =
  (path: string, manifest: (place: Place) => JsonObject, more: object = {}): Ask =>
  (caller, place) =>
    caller.put(path, { manifest: manifest(place), ...more });
/** What is tried by all, and written by nobody but those who may only try it. */
const dryRun = (path: string, manifest: (place: Place) => JsonObject) => ({
  ask: put(path, manifest, { dryRun: true }),
  write: put(path, manifest),
});
const lease =
  (scope: (place: Place) => string): Ask =>
  (caller, place) =>
    caller.put(`${svc}/leases/${encodeURIComponent(scope(place))}`, { holder: "h", ttlSeconds: 9, release: true });

const rows: readonly Row[] = [
  // Reads of one thing: what is not seen is not there.
  {
    name: "getCluster",
    ask: (caller, place) => caller.get(`${svc}/clusters/${place}`),
    allowed: seeCluster,
    refused: hidden,
    absent: 404,
  },
  {
    name: "listAddons",
    ask: (caller, place) => caller.get(`${svc}/clusters/${place}/get-addons`),
    allowed: seeCluster,
    refused: hidden,
    absent: 404,
  },
  {
    name: "listDeployments",
    ask: (caller, place, { ids }) => caller.get(`${svc}/apps/${ids[place].app}/deployments`),
    allowed: seeWorkspace,
    refused: hidden,
    absent: 404,
  },
  {
    name: "listJobRuns",
    ask: (caller, place, { ids }) => caller.get(`${svc}/jobs/${ids[place].job}/runs`),
    allowed: seeWorkspace,
    refused: hidden,
    absent: 404,
  },
  {
    name: "getJobRun",
    ask: (caller, place, { ids }) => caller.get(`${svc}/jobs/${ids[place].job}/runs/job-1-1`),
    allowed: seeWorkspace,
    refused: hidden,
    absent: 404,
  },
  {
    name: "getArtifact",
    ask: (caller, place, { ids }) => caller.get(`${ml}/artifacts/${ids[place].artifact}`),
    allowed: repoRoles,
    refused: hidden,
    absent: 404,
  },
  {
    name: "getSecret",
    ask: (caller, place, { ids }) => caller.get(`${svc}/secrets/${ids[place].secret}`),
    allowed: administrators,
    refused: hidden,
    absent: 404,
  },
  {
    name: "listSecretDeployments",
    ask: (caller, place, { ids }) => caller.get(`${svc}/secrets/${ids[place].secret}/deployments`),
    allowed: administrators,
    refused: hidden,
    absent: 404,
  },
  {
    name: "getPersonalAccessToken",
    ask: (caller) => caller.get(`${svc}/personal-access-tokens/mine`),
    allowed: everyone,
    refused: hidden,
    absent: 200,
  },
  {
    name: "revokePersonalAccessToken",
    ask: async (caller, place, { makeToken }) =>
      caller.post(`${svc}/personal-access-tokens`, { revoke: await makeToken(place) }),
    allowed: ["account"],
    refused: hidden,
    absent: 404,
  },
  { name: "getCaller", ask: (caller) => caller.get(`${svc}/me`), allowed: everyone, refused: hidden, absent: 200 },
  {
    name: "getDigest",
    what: "of a workspace",
    ask: (caller, place) => caller.get(`${svc}/digests?prefix=service%2F${place}%3Aws1%2F`),
    allowed: seeWorkspace,
    refused: denied,
    absent: 200,
  },
  {
    name: "getDigest",
    what: "of a repo",
    ask: (caller, place) => caller.get(`${svc}/digests?prefix=chat_prompt%2F${place}%2F`),
    allowed: repoRoles,
    refused: denied,
    absent: 200,
  },
  {
    name: "listAudit",
    ask: (caller) => caller.get(`${svc}/audit?limit=1`),
    allowed: administrators,
    refused: denied,
    absent: 200,
  },
  // Writes by name: what cannot be seen would be made.
  {
    name: "putCluster",
    ...dryRun(`${svc}/clusters`, manifests.cluster),
    allowed: ["cluster-admin"],
    refused: denied,
    absent: 200,
  },
  {
    name: "putWorkspace",
    ...dryRun(`${svc}/workspaces`, manifests.workspace),
    allowed: ["cluster-admin", "workspace-admin"],
    refused: denied,
    absent: 422,
  },
  {
    name: "putTeam",
    ...dryRun(`${svc}/teams`, manifests.team),
    allowed: ["manager"],
    refused: denied,
    absent: 200,
  },
  {
    name: "putVirtualAccount",
    ...dryRun(`${svc}/virtual-accounts`, manifests.account),
    allowed: administrators,
    refused: denied,
    absent: 200,
  },
  {
    name: "putMlRepo",
    ...dryRun(`${svc}/ml-repos`, manifests.repo),
    allowed: ["ml-repo-admin"],
    refused: denied,
    absent: 200,
  },
  {
    name: "createSecretGroup",
    ask: (caller, place, { next }) =>
      caller.post(`${svc}/secret-groups`, { name: `${place}${next()}`, integrationId: "builtin", secrets: [] }),
    allowed: administrators,
    refused: denied,
    absent: 200,
  },
  {
    name: "putSecretGroup",
    ask: put(`${svc}/secret-groups`, manifests.group),
    allowed: administrators,
    refused: denied,
    absent: 200,
  },
  {
    name: "reissueVirtualAccount",
    ask: async (caller, place, { makeAccount }) =>
      caller.post(`${svc}/virtual-accounts/${await makeAccount(place)}/reissue`, undefined),
    allowed: administrators,
    refused: denied,
    absent: 404,
  },
  {
    name: "disableSubject",
    ask: async (caller, place, { makeAccount }) =>
      caller.post(`${svc}/subjects/disable`, { subject: `virtualaccount:${await makeAccount(place)}` }),
    allowed: administrators,
    refused: denied,
    absent: 404,
  },
  {
    name: "putRolloutFailures",
    ask: async (caller) => caller.put(`${svc}/rollout-failures`, { failures: [] }),
    allowed: administrators,
    refused: denied,
    absent: 200,
  },
  {
    name: "putUser",
    ask: async (caller, place, { next }) =>
      caller.put(`${svc}/users`, { email: `${next()}@example.com`, remove: place === "absent" }),
    allowed: administrators,
    refused: denied,
    absent: 404,
  },
  {
    name: "listUsers",
    ask: (caller) => caller.get(`${svc}/users`),
    allowed: administrators,
    refused: denied,
    absent: 200,
  },
  {
    name: "putLease",
    what: "of a workspace",
    ask: lease((place) => `${place}:ws1`),
    allowed: writeWorkspace,
    refused: denied,
    absent: 200,
  },
  {
    name: "putLease",
    what: "of a cluster",
    ask: lease((place) => `cluster/${place}`),
    allowed: ["cluster-admin"],
    refused: denied,
    absent: 200,
  },
  {
    name: "putLease",
    what: "of an ml repo",
    ask: lease((place) => `ml-repo:holdfast/${place}`),
    allowed: writeRepo,
    refused: denied,
    absent: 200,
  },
  // Writes into a place that the manifest names.
  {
    name: "putApp",
    ...dryRun(`${svc}/apps`, manifests.service),
    allowed: writeWorkspace,
    sees: seeWorkspace,
    refused: dangling,
    absent: 422,
  },
  {
    name: "putPromptVersion",
    ask: put(`${ml}/prompt-versions`, manifests.prompt),
    allowed: writeRepo,
    sees: repoRoles,
    refused: dangling,
    absent: 422,
  },
  {
    name: "putModelVersion",
    ask: put(`${ml}/model-versions`, manifests.model),
    allowed: writeRepo,
    sees: repoRoles,
    refused: dangling,
    absent: 422,
  },
  {
    name: "postModelVersion",
    ask: (caller, place) => caller.post(`${ml}/model-versions`, { manifest: manifests.model(place) }),
    allowed: writeRepo,
    sees: repoRoles,
    refused: dangling,
    absent: 422,
  },
  {
    name: "stageArtifactVersion",
    ask: (caller, place) => caller.post(`${ml}/artifact-versions/stage`, { manifest: manifests.model(place) }),
    allowed: writeRepo,
    sees: repoRoles,
    refused: dangling,
    absent: 422,
  },
  {
    name: "markStageFailure",
    ask: (caller, place, { ids }) =>
      caller.post(`${ml}/artifact-versions/mark-stage-failure`, { id: ids[place].stage }),
    allowed: writeRepo,
    sees: repoRoles,
    refused: { seen: 403, unseen: 404 },
    absent: 404,
  },
];

/** What a role sees of a list, by the names of its rows. */
type Listing = {
  readonly name: OperationName;
  readonly path: string;
  readonly nameOf: (row: never) => string;
  readonly sees: readonly Role[];
};

const named = ({ name }: { readonly name: string }) => name;
const ofManifest = (field: string) => (row: { readonly manifest: Readonly<Record<string, string>> }) =>
  row.manifest[field] ?? "";

const listings: readonly Listing[] = [
  { name: "listClusters", path: `${svc}/clusters`, nameOf: named, sees: seeCluster },
  { name: "listWorkspaces", path: `${svc}/workspaces`, nameOf: ofManifest("cluster_fqn"), sees: seeWorkspace },
  {
    name: "listApps",
    path: `${svc}/apps?applicationType=service`,
    nameOf: ({ workspaceFqn }: { readonly workspaceFqn: string }) => workspaceFqn.replace(":ws1", ""),
    sees: seeWorkspace,
  },
  { name: "listTeams", path: `${svc}/teams`, nameOf: ofManifest("name"), sees: seeTeam },
  { name: "listVirtualAccounts", path: `${svc}/virtual-accounts`, nameOf: named, sees: ["account"] },
  {
    name: "listPersonalAccessTokens",
    path: `${svc}/personal-access-tokens`,
    nameOf: ({ subject }: { readonly subject: string }) => subject.replace("virtualaccount:", ""),
    sees: ["account"],
  },
  { name: "listSecretGroups", path: `${svc}/secret-groups`, nameOf: named, sees: administrators },
  { name: "listMlRepos", path: `${ml}/ml-repos`, nameOf: ofManifest("name"), sees: repoRoles },
  { name: "listModelVersions", path: `${ml}/model-versions`, nameOf: ofManifest("ml_repo"), sees: repoRoles },
  { name: "listPromptVersions", path: `${ml}/prompt-versions`, nameOf: ofManifest("ml_repo"), sees: repoRoles },
  // These are the caller's own, an administrator's too.
  { name: "listOwnTeams", path: `${svc}/teams/user`, nameOf: ofManifest("name"), sees: seeTeam },
];

/** What everybody who reads the tenant may do as its administrators do: other reads, and dry runs, which write nothing. */
function isOpenToViewers({ name }: Row): boolean {
  const { retry, body } = operation(name);
  const isOfAdmins = ["getSecret", "listUsers", "listAudit"].includes(name);
  return !isOfAdmins && (retry === "read" || body?.dryRun !== undefined);
}

function seesAllOf(name: OperationName, role: Role): boolean {
  if (name === "listOwnTeams") return false;
  return role === "tenant-admin" || (role === "tenant-viewer" && name !== "listPersonalAccessTokens");
}

/** What a role should hear of a row at a place. */
function expected(row: Row, role: Role, place: Place): number {
  const { allowed, sees = allowed, refused, absent } = row;
  const isViewer = role === "tenant-viewer";
  if (role === "tenant-admin" || (isViewer && isOpenToViewers(row))) return place === "absent" ? absent : 200;
  if (allowed === everyone) return 200;
  if (isViewer) return whatViewersHear(row, place);
  if (place === "own") return allowed.includes(role) ? 200 : sees.includes(role) ? refused.seen : refused.unseen;
  return refused.unseen;
}

/** What who reads the tenant should hear of a write. */
function whatViewersHear({ refused }: Row, place: Place): number {
  return place === "absent" ? refused.unseen : refused.seen;
}

test("every operation is in the table", () => {
  const told = new Set([...rows, ...listings].map(({ name }) => name));
  expect(new Set(Object.keys(operations))).toEqual(told);
});

const signIns: readonly SignIn[] = ["token", "issuer", "group"];

test.each(signIns)(
  "S31 every role, held by %s, may do what its row says with what is its own, foreign or absent, and nothing else",
  async (signIn) => {
    const world = await plantWorld(signIn);
    const wrong: string[] = [];
    for (const row of rows) {
      for (const [role, caller] of world.callers) {
        for (const place of places) {
          const { status } = await row.ask(caller, place, world);
          const wanted = expected(row, role, place);
          const what = `${role}: ${row.name} ${row.what ?? ""} ${place}`;
          if (status !== wanted) wrong.push(`${what}: ${status} and not ${wanted}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  },
);

test.each(signIns)("S31 who reads the tenant, by %s, may make dry runs and write nothing", async (signIn) => {
  const world = await plantWorld(signIn);
  const viewer = world.callers.get("tenant-viewer");
  const wrong: string[] = [];
  for (const row of rows) {
    for (const place of places) {
      if (viewer === undefined || row.write === undefined) continue;
      const { status } = await row.write(viewer, place, world);
      if (status !== whatViewersHear(row, place)) wrong.push(`${row.name} ${place}: ${status}`);
    }
  }
  expect(viewer).toBeDefined();
  expect(wrong).toEqual([]);
});

test.each(signIns)(
  "S31 every list shows to every role, held by %s, what is its own, and its true total",
  async (signIn) => {
    const { callers } = await plantWorld(signIn);
    const wrong: string[] = [];
    for (const { name, path, nameOf, sees } of listings) {
      for (const [role, caller] of callers) {
        const { body } = await caller.get(path);
        // Beside the places there are the teams of the roles.
        const named: readonly string[] = body.data.map(nameOf);
        const shown = named
          .filter((one) => !roles.some((each) => each === one))
          .toSorted()
          .join();
        const all = seesAllOf(name, role) ? "foreign,own" : sees.includes(role) ? "own" : "";
        if (shown !== all || body.pagination.total !== body.data.length) wrong.push(`${role}: ${name} shows ${shown}`);
      }
    }
    expect(wrong).toEqual([]);
  },
);

/** How the document names those who may something without a role of that name. */
const namesInDocument: { readonly [name: string]: readonly Role[] } = {
  everyone,
  "the account itself": ["account"],
  "the owner of the token": ["account"],
  "managers of the team": ["manager"],
  "members of the team": ["member"],
  // The account of this test has this role.
  "`cluster-viewer`": ["cluster-viewer", "account"],
};

/** What the table of the document says: for each operation who may, besides the tenant's administrators. */
async function documentedRoles(): Promise<ReadonlyMap<string, readonly string[]>> {
  const page = await readFile(join(import.meta.dirname, "../../docs/control-plane.md"), "utf8");
  const [, body = ""] = /^\| operations \| who may, .*\n\|[-|]+\|\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const said = body.matchAll(/^\| (?<operations>.+?) \| (?<who>.+?) \|$/gm);
  const rowsSaid = Array.from(said, ({ groups: { operations: named = "", who = "" } = {} }) => {
    const holders = who === "nobody" ? [] : who.split(", ");
    const held: readonly string[] = holders.flatMap(
      (name): readonly string[] => namesInDocument[name] ?? [name.replaceAll("`", "")],
    );
    return named.split(", ").map((name): readonly [string, readonly string[]] => {
      return [name.replaceAll("`", ""), [...new Set(held)].toSorted()];
    });
  });
  return new Map(rowsSaid.flat());
}

/** The same of the rows above, which were tried. */
function triedRoles(): ReadonlyMap<string, readonly string[]> {
  const ofRow = (row: Row): readonly [string, readonly string[]] => {
    const isTried = row.write !== undefined;
    const viewer = isOpenToViewers(row) ? [isTried ? "tenant-viewer (dry run)" : "tenant-viewer"] : [];
    const held = row.allowed === everyone ? everyone : [...row.allowed, ...viewer];
    return [[row.name, row.what ?? []].flat().join(" "), Array.from(new Set<string>(held)).toSorted()];
  };
  const ofListing = ({ name, sees }: Listing): readonly [string, readonly string[]] => {
    const viewer = seesAllOf(name, "tenant-viewer") ? ["tenant-viewer"] : [];
    return [name, [...sees, ...viewer].toSorted()];
  };
  return new Map([...rows.map(ofRow), ...listings.map(ofListing)]);
}

test("the table of roles in the documentation says who may what, as it was tried", async () => {
  expect(Object.fromEntries(await documentedRoles())).toEqual(Object.fromEntries(triedRoles()));
});
