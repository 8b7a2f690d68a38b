import { isDeepStrictEqual } from "node:util";
import { canonical } from "../../contract/json.ts";
import type { Context } from "../context.ts";
import { holdAuthorisation } from "./hold-authorisation.ts";
import type { Principal } from "./principal.ts";

/** Authenticates the caller of a request by what the context's database has. */
export type AuthenticateAgain = (context: Context) => Promise<Principal>;

/** The caller's roles have changed since the request began: it is to be decided again, for this principal. */
export class ChangedPrincipal extends Error {
  override readonly name = "ChangedPrincipal";
  readonly principal: Principal;

  constructor(principal: Principal) {
    super("the caller's roles have changed");
    this.principal = principal;
  }
}

/**
 * The context of a request in which every transaction begins by authenticating its caller again: a body may arrive long
 * after its headers, and the right to write may end in between. It throws 401 for a token that is not valid any more, and
 * ChangedPrincipal for other roles.
 */
export function authorisedContext(context: Context, principal: Principal, authenticate: AuthenticateAgain): Context {
  const { store } = context;
  return {
    ...context,
    store: {
      ...store,
      write: (change) =>
        store.write(async (transaction) => {
          if (store.isShared) await holdAuthorisation(transaction, principal);
          const current = await authenticate({ ...context, store: { ...store, read: transaction } });
          if (!isSame(current, principal)) throw new ChangedPrincipal(current);
          return change(transaction);
        }),
    },
  };
}

function isSame(one: Principal, other: Principal): boolean {
  if (one.name !== other.name || one.subject.subjectId !== other.subject.subjectId) return false;
  return isDeepStrictEqual(one.roles, other.roles) || isDeepStrictEqual(rolesText(one), rolesText(other));
}

// A database returns roles in any order.
function rolesText({ roles }: Principal): readonly string[] {
  return roles.map((role) => canonical({ ...role })).toSorted();
}
