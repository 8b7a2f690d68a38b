import { subjectResource } from "../model/references.ts";
import type { Identity, Reference } from "./manifest.ts";

/** The role assignments that manifests of many kinds carry. */
export type Grants = {
  readonly collaborators?: readonly { readonly subject: string; readonly role_id: string }[] | null;
  readonly permissions?:
    | readonly { readonly resource_fqn: string; readonly resource_type: string; readonly role_id: string }[]
    | null;
  readonly ownedBy?: { readonly account?: string | null; readonly team?: string | null } | null;
};

/** The references that a manifest's role assignments make: collaborators, permissions and owners. */
export function grantReferences({ collaborators, permissions, ownedBy }: Grants): readonly Reference[] {
  return [
    ...(collaborators ?? []).flatMap(({ subject }, index) =>
      reference(subjectIdentity(subject), `/collaborators/${index}/subject`),
    ),
    ...(permissions ?? []).flatMap(({ resource_type, resource_fqn }, index) =>
      reference(resourceIdentity(resource_type, resource_fqn), `/permissions/${index}/resource_fqn`),
    ),
    ...reference(ownedBy?.team ? teamIdentity(ownedBy.team) : null, "/ownedBy/team"),
  ];
}

function reference(identity: Identity | null, pointer: string): readonly Reference[] {
  return identity === null ? [] : [{ identity, pointer }];
}

function subjectIdentity(subject: string): Identity | null {
  const resource = subjectResource(subject);
  if (resource === null) return null;
  return resource.kind === "team" ? teamIdentity(resource.key) : `${resource.kind}/${resource.key}`;
}

// Everyone is a team that exists always.
function teamIdentity(name: string): Identity | null {
  return name === "everyone" ? null : `team/${name}`;
}

function resourceIdentity(type: string, fqn: string): Identity | null {
  if (type === "cluster" || type === "workspace") return `${type}/${fqn}`;
  // An ml repo's fqn is `ml-repo:tenant/repo`; manifests may give the bare name too.
  return type === "ml-repo" ? `ml-repo/${fqn.slice(fqn.lastIndexOf("/") + 1)}` : null;
}
