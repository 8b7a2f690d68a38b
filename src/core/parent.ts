import { referenceKinds } from "../model/reference-kinds.ts";
import { roleTypeOf } from "../model/roles.ts";
import { type Identity, type ManifestHead, splitIdentity } from "./manifest.ts";

const pointers: readonly string[] = Object.keys(referenceKinds.fields).map((field) => `/${field}`);

/** The workspace, cluster or repo that contains a manifest's resource; null for the tenant. */
export function parentOf({ references }: Pick<ManifestHead, "references">): Identity | null {
  return references.find(({ pointer }) => pointers.includes(pointer))?.identity ?? null;
}

/** The parent of an identity, derived from its name alone; null for the tenant. */
export function parentByName(identity: Identity): Identity | null {
  const { kind, key } = splitIdentity(identity);
  const above = roleTypeOf(kind)?.above;
  return above === undefined ? null : `${above}/${key.slice(0, key.lastIndexOf(":"))}`;
}
