import type { Subject } from "../../contract/generated/resources.ts";
import type { HeldRole } from "../../model/roles.ts";

/** A role on a resource. */
export type Role = HeldRole;

/** How a caller was authenticated. */
export type CallerCredential = {
  /** The credential that it depends on: the hash of a user's row in `tokens`, or the id of an account's JWT. */
  readonly root: string;
  /** `kind/name`, as lists of tokens show it. */
  readonly name: string;
  /** When the token of the request ends, in epoch milliseconds, where that is in the token itself. */
  readonly endsAt?: number;
};

/** The caller of a request, with all its roles, those of its teams included. */
export type Principal = {
  /** `user:<e-mail>`, `virtualaccount:<name>`, or the name of a system principal, as in `collaborators[].subject`. */
  readonly name: string;
  readonly subject: Subject;
  readonly roles: readonly Role[];
  /** Absent for system principals. */
  readonly credential?: CallerCredential;
};

/** The tenant that this control plane serves. */
export const tenant = "holdfast";

/** The role that allows everything. */
export const tenantAdmin: Role = { resourceType: "tenant", resourceFqn: tenant, roleId: "tenant-admin" };

/** A principal of the server itself with all rights, such as `seed`. */
export function systemPrincipal(name: string): Principal {
  const subject = { subjectId: name, subjectType: "user", subjectSlug: name, subjectDisplayName: name };
  return { name, subject, roles: [tenantAdmin] };
}
