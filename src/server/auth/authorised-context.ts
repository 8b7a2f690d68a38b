import type { Kysely, Transaction } from "kysely";
import { canonical } from "../../contract/json.ts";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { Context } from "../context.ts";
import type { Tables } from "../database/tables.ts";
import { everyoneSubject, teamSubjects } from "../resources/team/members.ts";
import type { Principal } from "./principal.ts";

// One statement, since every write runs it. A subquery that is not counted would not be executed.
const holdRows = preparedQuery(
  (
    database: Kysely<Tables>,
    { root, token, account, name, slug }: { readonly [of in "root" | "token" | "account" | "name" | "slug"]: string },
  ) =>
    database
      .with("held_token", (from) => from.selectFrom("tokens").select("hash").where("hash", "=", root).forShare())
      .with("held_jwt", (from) => from.selectFrom("jwts").select("id").where("id", "=", root).forShare())
      // When it was last used may change meanwhile.
      .with("held_personal", (from) =>
        from.selectFrom("personal_tokens").select("id").where("id", "=", token).forKeyShare(),
      )
      .with("held_account", (from) =>
        from.selectFrom("virtual_accounts").select("id").where("id", "=", account).forShare(),
      )
      .with("held_team", (from) =>
        from.selectFrom("team_members").select("member").where("member", "=", slug).forShare(),
      )
      .with("held_group", (from) => from.selectFrom("user_groups").select("name").where("member", "=", slug).forShare())
      .with("held_grant", (from) =>
        from
          .selectFrom("grants")
          .select("subject")
          .where(({ or, eb }) =>
            or([eb("subject", "in", [name, everyoneSubject]), eb("subject", "in", teamSubjects(database, slug))]),
          )
          .forShare(),
      )
      .selectNoFrom(({ selectFrom, fn }) => [
        selectFrom("held_token").select(fn.countAll().as("count")).as("tokens"),
        selectFrom("held_jwt").select(fn.countAll().as("count")).as("jwts"),
        selectFrom("held_personal").select(fn.countAll().as("count")).as("personal"),
        selectFrom("held_account").select(fn.countAll().as("count")).as("accounts"),
        selectFrom("held_team").select(fn.countAll().as("count")).as("teams"),
        selectFrom("held_group").select(fn.countAll().as("count")).as("groups"),
        selectFrom("held_grant").select(fn.countAll().as("count")).as("grants"),
      ]),
);

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
export function authorisedContext(
  context: Context,
  principal: Principal,
  authenticate: (within: Context) => Promise<Principal>,
): Context {
  const { store } = context;
  return {
    ...context,
    store: {
      ...store,
      write: (change) =>
        store.write(async (transaction) => {
          if (store.isShared) await holdAuthorisation(transaction, principal);
          // What authentication writes is part of the transaction: it cannot begin another one.
          const within = { ...store, read: transaction, write: (inner: typeof change) => inner(transaction) };
          const current = await authenticate({ ...context, store: within as typeof store });
          if (!isSame(current, principal)) throw new ChangedPrincipal(current);
          return change(transaction);
        }),
    },
  };
}

function isSame(one: Principal, other: Principal): boolean {
  if (one.name !== other.name || one.subject.subjectId !== other.subject.subjectId) return false;
  return JSON.stringify(one.roles) === JSON.stringify(other.roles) || rolesText(one) === rolesText(other);
}

// A database returns roles in any order.
function rolesText({ roles }: Principal): string {
  return JSON.stringify(roles.map((role) => canonical({ ...role })).toSorted());
}

/**
 * Locks the rows of a shared database that say who the caller is and what it may do, until the transaction ends: whoever
 * takes them away waits for it. If they were taken away since the transaction began, this fails with a conflict, and the
 * transaction runs again.
 */
async function holdAuthorisation(
  transaction: Transaction<Tables>,
  { name, subject, credential }: Principal,
): Promise<void> {
  const { subjectId: account, subjectSlug: slug } = subject;
  const [, token = ""] = credential?.name.split("/") ?? [];
  await holdRows(transaction, { root: credential?.root ?? "", token, account, name, slug });
}
