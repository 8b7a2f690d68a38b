import { ClientError } from "../../client/client-error.ts";
import type { Sent } from "../../client/writer.ts";
import { isObject, type JsonObject, text } from "../../contract/json.ts";
import type { WriteOperation } from "../../contract/operations.ts";
import { type AppliedWrite, appliedOf, type Check, needed, unlessRefused, written } from "./check.ts";
import { type ConformContext, listedSecrets } from "./context.ts";
import { NotCheckableError } from "./not-checkable-error.ts";
import { oncePerContext } from "./once-per-context.ts";

/** The names of what checks write for the whole tenant. */
export const TENANT = {
  group: "holdfast-conform-secrets",
  token: "holdfast-conform-token",
  cluster: "holdfast-conform-cluster",
  account: "holdfast-conform-account",
  team: "holdfast-conform-team",
} as const;

const write = { level: "write-tenant", part: "interface" } as const;

/** The checks of what belongs to the whole tenant, by writes of it. */
export const tenantChecks: readonly Check[] = [
  {
    ...{ ...write, check: "secret-group", operations: ["createSecretGroup"] },
    asserts: "a group is created with its secrets, each with version 1; the reply has no value",
    without: "secret groups cannot be created",
    find: async (context) => {
      const sent = await firstGroup(context);
      if (isTaken(sent)) throw new NotCheckableError(`${TENANT.group} exists already`);
      const { data } = appliedOf("createSecretGroup", sent);
      const [secret] = listedSecrets(data);
      if (secret === undefined) return "the reply has no associatedSecrets";
      const [version] = Array.isArray(secret.secretVersions) ? secret.secretVersions.filter(isObject) : [];
      if ("value" in secret || (version !== undefined && "value" in version)) return "the reply has a value";
      return version === undefined || version.version === 1 ? null : "its first version is not 1";
    },
  },
  {
    ...{ ...write, check: "secret-group-taken", part: "semantics", operations: ["createSecretGroup"] },
    asserts: "a group whose name is taken is refused with 409",
    without: "a group that others have made is taken for an own one",
    find: async (context) => {
      const first = await firstGroup(context);
      if (isTaken(first)) return null;
      await needed(appliedLater(first), "the group could not be created");
      return unlessRefused(appliedLater(await createGroup(context)), 409);
    },
  },
  {
    ...{ ...write, check: "personal-token", operations: ["getPersonalAccessToken"] },
    asserts: "a personal access token is created with a token once, and after that answered without one",
    without: "holdfast token create cannot be used",
    find: personalTokenFault,
  },
  put("cluster-written", "putCluster", clusterManifest),
  put("account-written", "putVirtualAccount", accountManifest),
  {
    ...{ ...write, check: "account-token", part: "semantics", operations: ["putVirtualAccount"] },
    asserts: "a virtual account that exists is answered without a token",
    without: "each write of an account makes a token that must be stored",
    find: async (context) => {
      const content = { body: { manifest: accountManifest(context) } };
      await needed(written(context, "putVirtualAccount", content), "the account could not be written");
      const again = await written(context, "putVirtualAccount", content);
      return again.hasToken ? "a second write answers a token" : null;
    },
  },
  put("team-written", "putTeam", teamManifest),
  unmoved("identical-cluster", "putCluster", clusterManifest),
  unmoved("identical-account", "putVirtualAccount", accountManifest),
  unmoved("identical-team", "putTeam", teamManifest),
];

const createGroup = async (context: ConformContext): Promise<Sent> => {
  const body = { name: TENANT.group, integrationId: await integrationOf(context), secrets: SECRETS };
  return context.writer.send("createSecretGroup", { body }, context);
};
const firstGroup = oncePerContext(createGroup);

async function appliedLater(sent: Sent): Promise<AppliedWrite> {
  return appliedOf("createSecretGroup", sent);
}

function isTaken(sent: Sent): boolean {
  return sent.state === "refused" && sent.status === 409;
}

const SECRETS = [{ key: "example", value: "not-a-secret" }];

function clusterManifest(): JsonObject {
  return { type: "cluster", name: TENANT.cluster, cluster_type: "generic" };
}

function teamManifest(): JsonObject {
  return { type: "team", name: TENANT.team, members: ["holdfast-conform@example.com"] };
}

// It has expired, so that its token opens nothing.
function accountManifest({ names: { workspace } }: ConformContext): JsonObject {
  const permission = { resource_fqn: workspace ?? "", resource_type: "workspace", role_id: "workspace-viewer" };
  return { type: "virtual-account", name: TENANT.account, permissions: [permission], expiration_date: "2020-01-01" };
}

type ManifestOf = (context: ConformContext) => JsonObject;

function put(check: string, name: WriteOperation, manifestOf: ManifestOf): Check {
  return {
    ...{ ...write, check, operations: [name] },
    asserts: "a write answers {data: {id, manifest}}",
    without: "resources of this kind cannot be written",
    find: async (context) => {
      const { data } = await written(context, name, { body: { manifest: manifestOf(context) } });
      return text(data.id) === undefined ? "the reply has no id" : null;
    },
  };
}

function unmoved(check: string, name: WriteOperation, manifestOf: ManifestOf): Check {
  return {
    ...{ ...write, check, part: "semantics", operations: [name] },
    asserts: "an identical write changes nothing: updatedAt stays as it was",
    without: "nothing: it does not write what is equal. An audit shows changes that are none",
    find: async (context) => {
      const content = { body: { manifest: manifestOf(context) } };
      const first = await needed(written(context, name, content), "it could not be written");
      if (text(first.data.updatedAt) === undefined) throw new NotCheckableError("the reply has no updatedAt");
      // So that a time that moves is another one.
      await context.clock.sleep(5, context);
      const again = await written(context, name, content);
      return again.data.updatedAt === first.data.updatedAt ? null : "updatedAt has moved";
    },
  };
}

// Any store of secrets that a group has already, else that of the embedded control plane.
async function integrationOf({ list }: ConformContext): Promise<string> {
  try {
    const ids = (await list("listSecretGroups")).rows.flatMap(({ integrationId }) => text(integrationId) ?? []);
    return ids[0] ?? EMBEDDED_STORE;
  } catch (error) {
    if (error instanceof ClientError) return EMBEDDED_STORE;
    throw error;
  }
}

const EMBEDDED_STORE = "builtin";

async function personalTokenFault(context: ConformContext): Promise<string | null> {
  const content = { path: { name: TENANT.token } };
  const first = await written(context, "getPersonalAccessToken", content);
  try {
    if (first.created !== true) throw new NotCheckableError(`you have a token ${TENANT.token} already`);
    if (!first.hasToken) return "it says that it created a token, and answers none";
    const again = await written(context, "getPersonalAccessToken", content);
    return again.created === true || again.hasToken ? "it creates a token of the same name again" : null;
  } finally {
    // The token was dropped, and nobody needs it.
    const revoke = text(first.data.id);
    if (first.created === true && revoke !== undefined) {
      await context.writer.send("revokePersonalAccessToken", { body: { revoke } }, context);
    }
  }
}
