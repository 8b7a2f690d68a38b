import type { Subject } from "../../contract/resources.ts";

/** A role on a resource. */
export type Role = { readonly resourceType: string; readonly resourceFqn: string; readonly roleId: string };

/** What a caller was known by. */
export type CallerCredential = {
  /** What it ends with, itself or what made it: the hash of a user's token, or the id of an account's JWT. */
  readonly root: string;
  /** `kind/name`, as lists of tokens show it. */
  readonly name: string;
};

/** Whoever makes a request, with all the roles it holds, its teams' included. */
export type Principal = {
  /** `user:<e-mail>`, `virtualaccount:<name>`, or the name of an inner actor, as in `collaborators[].subject`. */
  readonly name: string;
  readonly subject: Subject;
  readonly roles: readonly Role[];
  /** Absent for inner actors. */
  readonly credential?: CallerCredential;
};

/** The tenant that this control plane serves. */
export const tenant = "holdfast";

/** An inner actor with every right, such as `seed`. */
export function systemPrincipal(name: string): Principal {
  const subject = { subjectId: name, subjectType: "user", subjectSlug: name, subjectDisplayName: name };
  return { name, subject, roles: [{ resourceType: "tenant", resourceFqn: tenant, roleId: "tenant-admin" }] };
}
