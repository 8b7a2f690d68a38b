import { isObject, type Json, type JsonObject, text } from "../contract/json.ts";
import type { Identity, Reference } from "./manifest.ts";

/** The references that a manifest's role assignments make: collaborators, permissions and owners. */
export function grantReferences(manifest: JsonObject): readonly Reference[] {
  return [
    ...items(manifest.collaborators).flatMap((item, index) =>
      reference(subjectIdentity(text(item.subject)), `/collaborators/${index}/subject`),
    ),
    ...items(manifest.permissions).flatMap((item, index) =>
      reference(
        resourceIdentity(text(item.resource_type), text(item.resource_fqn)),
        `/permissions/${index}/resource_fqn`,
      ),
    ),
    ...reference(ownerIdentity(manifest.ownedBy), "/ownedBy/team"),
  ];
}

/** The one-element list of a reference, or none: the form that `flatMap` and spreading want. */
export function reference(identity: Identity | null, pointer: string): readonly Reference[] {
  return identity === null ? [] : [{ identity, pointer }];
}

function subjectIdentity(subject: string | undefined): Identity | null {
  const [, scheme, name] = subject?.match(/^(team|virtualaccount):(.+)$/) ?? [];
  if (scheme === "team") return name === "everyone" ? null : `team/${name}`;
  return scheme === undefined ? null : `virtual-account/${name}`;
}

function resourceIdentity(type: string | undefined, fqn: string | undefined): Identity | null {
  if (fqn === undefined) return null;
  if (type === "cluster" || type === "workspace") return `${type}/${fqn}`;
  // An ml repo's fqn is `ml-repo:tenant/repo`; manifests may give the bare name too.
  return type === "ml-repo" ? `ml-repo/${fqn.slice(fqn.lastIndexOf("/") + 1)}` : null;
}

function ownerIdentity(owner: Json | undefined): Identity | null {
  const team = isObject(owner) ? text(owner.team) : undefined;
  return team === undefined || team === "everyone" ? null : `team/${team}`;
}

function items(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item: Json) => (isObject(item) ? item : {})) : [];
}
