import type { Kysely, Transaction } from "kysely";
import { preparedQuery } from "../../store/prepared-query.ts";
import type { Tables } from "../database/tables.ts";
import { everyoneSubject, teamSubjects } from "../resources/team/members.ts";
import type { Principal } from "./principal.ts";

type Held = { readonly [of in "root" | "token" | "account" | "name" | "slug"]: string };

// One statement, since every write runs it. A subquery that is not counted would not be executed.
const holdRows = preparedQuery((database: Kysely<Tables>, { root, token, account, name, slug }: Held) =>
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
    .with("held_team", (from) => from.selectFrom("team_members").select("member").where("member", "=", slug).forShare())
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
      selectFrom("held_grant").select(fn.countAll().as("count")).as("grants"),
    ]),
);

/**
 * Locks the rows of a shared database that say who the caller is and what it may do, until the transaction ends: whoever
 * takes them away waits for it. If they were taken away since the transaction began, this fails with a conflict, and the
 * transaction runs again.
 */
export async function holdAuthorisation(
  transaction: Transaction<Tables>,
  { name, subject, credential }: Principal,
): Promise<void> {
  const { subjectId: account, subjectSlug: slug } = subject;
  const [, token = ""] = credential?.name.split("/") ?? [];
  await holdRows(transaction, { root: credential?.root ?? "", token, account, name, slug });
}
