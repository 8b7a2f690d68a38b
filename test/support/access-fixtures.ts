import type { JsonObject } from "../../src/contract/json.ts";
import { Secret } from "../../src/contract/secret.ts";
import { addUser, type Caller, caller, startControlPlane } from "../control-plane.ts";
import { audience, ownIssuer } from "./own-issuer.ts";
import { statement } from "./test-database.ts";

/** Everybody who calls: each holds the role of that name on the resources called `own`, and nothing else. */
export const clusterRoles = ["cluster-admin", "cluster-member", "cluster-viewer"] as const;
const workspaceRoles = ["workspace-admin", "workspace-editor", "workspace-member", "workspace-viewer"] as const;
export const repoRoles = ["ml-repo-admin", "ml-repo-editor", "ml-repo-viewer"] as const;
const others = ["tenant-viewer", "tenant-member", "manager", "member", "account", "custom", "nobody"] as const;
export const roles = ["tenant-admin", ...clusterRoles, ...workspaceRoles, ...repoRoles, ...others] as const;
/** Somebody who calls. */
export type Role = (typeof roles)[number];

const email = (role: Role) => `${role}@example.com`;
// To the user of that role, and to the team of that role, which has nobody but those who come by a group.
const subjectsOf = (role: Role) => [`user:${email(role)}`, `team:${role}`];
const given = (held: readonly Role[]) =>
  held.flatMap((role_id) => subjectsOf(role_id).map((subject) => ({ subject, role_id })));

/** How everybody is known: by a token of the control plane, by an issuer, or by a group of an issuer. */
export type SignIn = "token" | "issuer" | "group";

/** Where a resource is: where everybody has a role, where nobody has, or nowhere. */
export type Place = "own" | "foreign" | "absent";
/** All three. */
export const places: readonly Place[] = ["own", "foreign", "absent"];

const isOwn = (place: Place) => place === "own";
/** A manifest of each kind, by place. */
export const manifests = {
  cluster: (place: Place) => ({
    type: "cluster",
    name: place,
    cluster_type: "generic",
    ...(isOwn(place) && { collaborators: given(clusterRoles) }),
  }),
  workspace: (place: Place) => ({
    type: "workspace",
    name: "ws1",
    cluster_fqn: place,
    ...(isOwn(place) && {
      collaborators: [
        ...given(workspaceRoles),
        ...subjectsOf("custom").map((subject) => ({ subject, role_id: "my-own-role" })),
      ],
    }),
  }),
  service: (place: Place) => ({
    type: "service",
    name: "api",
    workspace_fqn: `${place}:ws1`,
    image: { type: "image", image_uri: "registry.example.com/api:1" },
  }),
  job: (place: Place) => ({
    type: "job",
    name: "job",
    workspace_fqn: `${place}:ws1`,
    image: { type: "image", image_uri: "registry.example.com/job:1" },
  }),
  team: (place: Place) => ({
    type: "team",
    name: place,
    members: isOwn(place) ? [email("member")] : ["other@example.com"],
    ...(isOwn(place) && { managers: [email("manager")] }),
  }),
  account: (place: Place) => ({
    type: "virtual-account",
    name: place,
    permissions: isOwn(place)
      ? [{ resource_type: "cluster", resource_fqn: "own", role_id: "cluster-viewer" }]
      : [{ resource_type: "cluster", resource_fqn: "foreign", role_id: "cluster-viewer" }],
  }),
  repo: (place: Place) => ({
    type: "ml-repo",
    name: place,
    ...(isOwn(place) && { collaborators: given(repoRoles) }),
  }),
  model: (place: Place) => ({ type: "model-version", name: "m", ml_repo: place }),
  prompt: (place: Place) => ({
    type: "chat_prompt",
    name: "p",
    ml_repo: place,
    messages: [{ role: "user", content: "hi" }],
  }),
  group: (place: Place) => ({ type: "secret-group", name: place, secrets: [{ key: "k", value: "v" }] }),
} satisfies { readonly [kind: string]: (place: Place) => JsonObject };

/** Ids of what is at one place. */
type Ids = { readonly [what in "app" | "job" | "artifact" | "stage" | "secret"]: string };

/** What the access tests look at, and who looks. */
export type World = {
  readonly callers: ReadonlyMap<Role, Caller>;
  readonly ids: { readonly [place in Place]: Ids };
  /** A number that was not given before. */
  readonly next: () => number;
  /** Makes a personal access token of the account at a place, and answers its id. */
  readonly makeToken: (place: Place) => Promise<string>;
  /** Makes a virtual account like the one at a place, and answers its name. */
  readonly makeAccount: (place: Place) => Promise<string>;
};

const absent: Ids = { app: "absent", job: "absent", artifact: "absent", stage: "absent", secret: "absent" };

/** Makes the own and the foreign resources, and a caller for each role. */
export async function plantWorld(signIn: SignIn = "token"): Promise<World> {
  const issuer = await ownIssuer();
  const plane = await startControlPlane({ oidc: { issuer: issuer.url, audience, groupsClaim: "groups" } });
  for (const role of roles) {
    const manifest = { type: "team", name: role, members: ["other@example.com"] };
    await plane.admin.put("/api/svc/v1/teams", { manifest });
  }
  const own = await plantAt(plane.admin, "own");
  const foreign = await plantAt(plane.admin, "foreign");
  for (const role of ["tenant-admin", "tenant-viewer", "tenant-member"] as const) {
    // Nothing in the interface gives a user a role on the tenant.
    for (const subject of subjectsOf(role)) {
      await statement(plane.data, "INSERT INTO grants VALUES ('test', ?, 'tenant', 'holdfast', ?)", [subject, role]);
    }
  }
  const callers = new Map<Role, Caller>();
  for (const role of roles) {
    const isAccount = role === "account";
    callers.set(role, isAccount ? caller(plane.url, new Secret(own.token)) : await personOf(role));
  }
  async function personOf(role: Role): Promise<Caller> {
    if (signIn === "token") return addUser(plane, email(role));
    // A team has managers by their e-mail alone, and members also by a group of its name.
    const byGroup = { email: `${role}-by-group@example.com`, groups: [role === "member" ? "own" : role] };
    const claims = signIn === "issuer" || role === "manager" ? { email: email(role) } : byGroup;
    return caller(plane.url, await issuer.sign({ sub: role, email_verified: true, ...claims }));
  }
  let count = 0;
  const next = () => {
    count += 1;
    return count;
  };
  const accounts = {
    own: caller(plane.url, new Secret(own.token)),
    foreign: caller(plane.url, new Secret(foreign.token)),
  };
  const makeToken = async (place: Place) =>
    place === "absent"
      ? place
      : (await accounts[place].get(`/api/svc/v1/personal-access-tokens/t${next()}`)).body.data.id;
  const makeAccount = async (place: Place) => {
    const name = `${place}${next()}`;
    const manifest = { ...manifests.account(place), name };
    if (place !== "absent") await plane.admin.put("/api/svc/v1/virtual-accounts", { manifest });
    return name;
  };
  await Promise.all([makeToken("own"), makeToken("foreign")]);
  return { callers, ids: { own: own.ids, foreign: foreign.ids, absent }, next, makeToken, makeAccount };
}

async function plantAt(admin: Caller, place: Place): Promise<{ readonly ids: Ids; readonly token: string }> {
  const svc = "/api/svc/v1";
  const ml = "/api/ml/v1";
  const put = async (path: string, manifest: JsonObject, more: object = {}) => {
    const { status, body, text } = await admin.put(path, { manifest, ...more });
    if (status !== 200) throw new Error(`${path} answered ${text}`);
    return body;
  };
  await put(`${svc}/clusters`, manifests.cluster(place));
  await put(`${svc}/workspaces`, manifests.workspace(place));
  const group = await put(`${svc}/secret-groups`, manifests.group(place));
  const app = await put(`${svc}/apps`, manifests.service(place));
  const job = await put(`${svc}/apps`, manifests.job(place), { triggerOnDeploy: true });
  await put(`${svc}/teams`, manifests.team(place));
  await put(`${svc}/ml-repos`, manifests.repo(place));
  await put(`${ml}/prompt-versions`, manifests.prompt(place));
  const model = await put(`${ml}/model-versions`, manifests.model(place));
  const staged = await admin.post(`${ml}/artifact-versions/stage`, { manifest: manifests.model(place) });
  const { token } = await put(`${svc}/virtual-accounts`, manifests.account(place));
  const ids = {
    app: app.data.applicationId,
    job: job.data.applicationId,
    artifact: model.data.model_id,
    stage: staged.body.id,
    secret: group.data.associatedSecrets[0].id,
  };
  return { ids, token };
}
