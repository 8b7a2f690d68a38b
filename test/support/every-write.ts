import { operations } from "../../src/contract/operations.ts";
import { cluster, plantWorkspace, service, workspace } from "../conformance/platform.ts";
import type { Caller } from "../control-plane.ts";

const tenant = (role_id: string) => [{ resource_fqn: "holdfast", resource_type: "tenant", role_id }];
/** A virtual account with a role on the tenant. */
export const accountWith = (name: string, role: string) => ({
  manifest: { type: "virtual-account", name, permissions: tenant(role) },
});
const model = { type: "model-version", name: "m", ml_repo: "repo" };
const secrets = [{ key: "k", value: "v" }];

type Ids = { readonly stage: string; readonly token: string };

/** A write by every operation that has a body, which a tenant-admin may send. */
export const everyWrite = {
  putPromptVersion: () => ({
    manifest: { type: "chat_prompt", name: "p", ml_repo: "repo", messages: [{ role: "user", content: "hi" }] },
  }),
  createSecretGroup: () => ({ name: "made", integrationId: "builtin", secrets }),
  postModelVersion: () => ({ manifest: { ...model, name: "posted" } }),
  markStageFailure: ({ stage }: Ids) => ({ id: stage }),
  putApp: () => ({ manifest: service }),
  putCluster: () => ({ manifest: { ...cluster, name: "c2x" } }),
  putVirtualAccount: () => accountWith("new", "tenant-member"),
  putTeam: () => ({ manifest: { type: "team", name: "ml", members: ["ada@example.com"] } }),
  stageArtifactVersion: () => ({ manifest: { ...model, name: "staged" } }),
  putWorkspace: () => ({ manifest: { ...workspace, name: "ws2" } }),
  putModelVersion: () => ({ manifest: model }),
  putMlRepo: () => ({ manifest: { type: "ml-repo", name: "other" } }),
  putLease: () => ({ holder: "a", ttlSeconds: 60 }),
  putSecretGroup: () => ({ manifest: { type: "secret-group", name: "put", integrationId: "builtin", secrets } }),
  revokePersonalAccessToken: ({ token }: Ids) => ({ revoke: token }),
  putUser: () => ({ email: "ada@example.com" }),
  putRolloutFailures: () => ({ failures: [{ match: "service/none/*", failure: "deploy" }] }),
  disableSubject: () => ({ subject: "virtualaccount:leaver" }),
} as const satisfies { readonly [name in keyof typeof operations]?: (ids: Ids) => object };

/** The method and path of an operation. */
export const placeOf = (name: string) =>
  Object.entries(operations)
    .flatMap(([one, { path, method }]) => (one === name ? [{ path: path.replace("{scope}", "c1x:ws1"), method }] : []))
    .at(0) ?? { path: "/", method: "PUT" };

/** Writes what those need: a workspace, a repo, a stage, a token and an account. */
export async function plantForWrites(admin: Caller): Promise<Ids> {
  await plantWorkspace(admin);
  await admin.put("/api/svc/v1/ml-repos", { manifest: { type: "ml-repo", name: "repo" } });
  await admin.put("/api/svc/v1/virtual-accounts", accountWith("leaver", "tenant-admin"));
  const staged = { manifest: { ...model, name: "open" } };
  const stage = (await admin.post("/api/ml/v1/artifact-versions/stage", staged)).body;
  const target = (await admin.get("/api/svc/v1/personal-access-tokens/target")).body;
  return { stage: stage.id, token: target.data.id };
}
