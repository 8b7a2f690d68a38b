import { referenceKinds } from "../model/reference-kinds.ts";
import { subjectResource } from "../model/references.ts";
import { roleTypeOf } from "../model/roles.ts";
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
    ...reference(ownedBy?.team ? holderIdentity(referenceKinds.owner, ownedBy.team) : null, "/ownedBy/team"),
  ];
}

function reference(identity: Identity | null, pointer: string): readonly Reference[] {
  return identity === null ? [] : [{ identity, pointer }];
}

function subjectIdentity(subject: string): Identity | null {
  const resource = subjectResource(subject);
  return resource === null ? null : holderIdentity(resource.kind, resource.key);
}

// Everyone is a team that exists always.
function holderIdentity(kind: string, name: string): Identity | null {
  return kind === referenceKinds.owner && name === "everyone" ? null : `${kind}/${name}`;
}

const kindsOfFields: readonly string[] = Object.values(referenceKinds.fields);

function resourceIdentity(type: string, fqn: string): Identity | null {
  if (!kindsOfFields.includes(type)) return null;
  // An ml repo's fqn is `ml-repo:tenant/repo`; manifests may give the bare name too.
  return `${type}/${roleTypeOf(type)?.hasLongFqn ? fqn.slice(fqn.lastIndexOf("/") + 1) : fqn}`;
}
