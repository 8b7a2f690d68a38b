import type { Transaction } from "kysely";
import { isObject, type JsonObject, text } from "../../../contract/json.ts";
import { Secret } from "../../../contract/secret.ts";
import { secretsOf } from "../../../model/references.ts";
import type { Context } from "../../context.ts";
import { markChanged } from "../../database/digests.ts";
import type { Tables } from "../../database/tables.ts";
import { readObjects } from "../../snapshot/rows.ts";
import {
  type CopyOutcome,
  notCopied,
  type Snapshot,
  type SnapshotPart,
  snapshotPart,
  snapshotPrincipal,
} from "../../snapshot/snapshot-part.ts";
import { findGroup, insertGroup } from "./groups.ts";
import { readSecretPath } from "./read-group-manifest.ts";
import { putValue, secretExists } from "./values.ts";

const PLACEHOLDER = "placeholder: a snapshot copies no secret value";

/** The fqns of all secrets in a snapshot: in groups, and in manifests that refer to them. */
function secretFqns({ secretGroups = [], applications = [] }: Snapshot): readonly string[] {
  const listed = secretGroups.flatMap((group) =>
    readObjects(group.associatedSecrets).flatMap((secret) => fqnOf(group, secret) ?? []),
  );
  const manifests = applications.flatMap(({ deployments }) => readObjects(deployments).map(({ manifest }) => manifest));
  const referred = manifests
    .filter((manifest) => isObject(manifest))
    .flatMap((manifest) => secretsOf(manifest))
    .map(({ key }) => key);
  return [...new Set([...listed, ...referred])];
}

/** Copies a secret group with its collaborators. */
async function copyGroup(
  transaction: Transaction<Tables>,
  { fqn: given, name: called, manifest }: JsonObject,
  context: Context,
): Promise<CopyOutcome> {
  const [fqn, name] = [text(given), text(called)];
  if (!fqn || !name || !fqn.endsWith(`:${name}`)) return notCopied("its name is missing");
  if ((await findGroup(transaction, name)) !== null) return { result: "exists" };
  const collaborators = isObject(manifest) ? readObjects(manifest.collaborators) : [];
  await insertGroup(transaction, snapshotPrincipal, { name, fqn, collaborators }, context);
  const resource = `secret-group/${name}`;
  await markChanged(transaction, resource, context);
  return { result: "copied", resource };
}

/** Stores a placeholder for a secret, so that references to it are valid. */
async function copyPlaceholder(transaction: Transaction<Tables>, fqn: string, context: Context): Promise<CopyOutcome> {
  const [tenant, name = "", key = "", ...rest] = fqn.split(":");
  if (!tenant || rest.length > 0 || readSecretPath(`${name}/${key}`) === null)
    return notCopied("its name is not tenant:group:key");
  if (await secretExists(transaction, fqn)) return { result: "exists" };
  const existing = await findGroup(transaction, name);
  const group =
    existing ?? (await insertGroup(transaction, snapshotPrincipal, { name, fqn: `${tenant}:${name}` }, context));
  if (group.fqn !== `${tenant}:${name}`) return notCopied("another tenant has a group of this name");
  await putValue(transaction, snapshotPrincipal, { group, key, value: new Secret(PLACEHOLDER) }, context);
  await markChanged(transaction, `secret-group/${name}`, context);
  return { result: "copied", resource: `secret/${fqn}` };
}

function fqnOf(group: JsonObject, secret: JsonObject): string | null {
  const [of, key] = [text(group.fqn), text(secret.name)];
  return text(secret.fqn) ?? (of && key ? `${of}:${key}` : null);
}

/** Copies secret groups, without values. */
export const secretGroupSnapshotPart: SnapshotPart = snapshotPart("secret-group", {
  rows: "secretGroups",
  operation: "putSecretGroup",
  copy: copyGroup,
});

/** Stores a placeholder for every secret in the snapshot. */
export const secretSnapshotPart: SnapshotPart = {
  name: "secret",
  after: ["secret-group"],
  rows: (snapshot) =>
    secretFqns(snapshot).map((fqn) => ({
      name: `secret/${fqn}`,
      operation: "putSecretGroup",
      copy: (transaction, context) => copyPlaceholder(transaction, fqn, context),
    })),
};
