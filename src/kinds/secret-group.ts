import type { SecretGroupManifest } from "../contract/generated/manifests.ts";
import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import type { Secret } from "../contract/secret.ts";
import { defineKind, type Kind, type RowOf } from "../core/kind.ts";
import { authorIn } from "../core/subject.ts";

// Live shows the versions of secrets, and no value.
const row: RowOf<"listSecretGroups"> = (group) => {
  const { id, name, integrationId, associatedSecrets = [], createdAt, createdBySubject, updatedAt } = group;
  const stored: unknown = group.manifest;
  if (!isObject(stored)) throw new TypeError("the reply carries no manifest");
  const secrets = associatedSecrets.map((secret) => ({ secret, newest: newestOf(secret.secretVersions ?? []) }));
  return {
    key: name,
    id: id || null,
    manifest: {
      type: "secret-group",
      name,
      integration_fqn: text(stored.integration_fqn) ?? integrationId,
      collaborators: stored.collaborators ?? [],
      secrets: secrets.map(({ secret, newest }) => ({ key: secret.name, value: `version ${newest?.version ?? 0}` })),
    },
    stamp: updatedAt,
    createdAt,
    ...authorIn(createdBySubject),
    secrets: new Map(
      secrets.map(({ secret, newest }) => [secret.name, { id: secret.id, changedAt: newest?.createdAt ?? null }]),
    ),
  };
};

function newestOf<Version extends { readonly version: number }>(versions: readonly Version[]): Version | undefined {
  return versions.toSorted((one, other) => other.version - one.version)[0];
}

type Open = (standIn: string) => Secret | null;

// What has no value here is left to live: a key that is not sent stays as it is.
function openedSecrets({ secrets }: JsonObject, open: Open): readonly JsonObject[] {
  return (Array.isArray(secrets) ? secrets : []).filter(isObject).flatMap(({ key, value }: JsonObject) => {
    const opened = typeof value === "string" ? open(value) : null;
    return opened === null ? [] : [{ key: key ?? null, value: opened.open() }];
  });
}

function grantsTo({ collaborators }: JsonObject): readonly Json[] {
  return Array.isArray(collaborators) ? collaborators : [];
}

/** A group of secrets. Its values are named by reference, and live shows only their versions. */
export const kind: Kind = defineKind<SecretGroupManifest>({
  type: "secret-group",
  key: ({ name }) => name,
  group: () => null,
  list: { operation: "listSecretGroups", row },
  cannotRead: "no documented operation reads secret groups",
  cannotUpdate: "the documented operation only creates a group: it changes no value, and sets no collaborators",
  isShownByTenant: true,
  values: { list: "secrets", name: "key", value: "value" },
  writeRoutes: [
    {
      operation: "createSecretGroup",
      createsOnly: true,
      covers: (manifest) => grantsTo(manifest).length === 0,
      row,
      body: (manifest, open) => ({
        name: manifest.name ?? null,
        integrationId: manifest.integration_fqn ?? null,
        secrets: openedSecrets(manifest, open),
      }),
    },
    {
      operation: "putSecretGroup",
      row,
      body: (manifest, open) => ({
        manifest: { ...manifest, collaborators: grantsTo(manifest), secrets: openedSecrets(manifest, open) },
      }),
    },
  ],
});
