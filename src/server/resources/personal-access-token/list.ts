import type { PersonalAccessToken } from "../../../contract/generated/resources.ts";
import { isTenantAdmin } from "../../auth/access.ts";
import type { Context } from "../../context.ts";
import { fromText, toText } from "../../database/json-text.ts";
import { countTotal, newestFirst } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import type { Handler } from "../../http/operation-call.ts";
import { endOfDay } from "../virtual-account/expiry.ts";
import { findOwner, subjectOf, validTokens } from "./rows.ts";

/** Lists tokens, without the tokens themselves. */
export const listPersonalAccessTokens: Handler<"listPersonalAccessTokens"> = async (call, context) => {
  const { read } = context.store;
  const { subject } = call.query;
  const wanted = [
    ...(isTenantAdmin(call.principal) ? [] : [call.principal.subject]),
    ...(subject === undefined ? [] : [await findOwner(read, subject)]),
  ];
  let rows = validTokens(read, context.now());
  for (const owner of wanted) {
    rows = rows.where("p.owner_type", "=", owner?.subjectType ?? "").where("p.owner_id", "=", owner?.subjectId ?? "");
  }
  const listed = rows
    .leftJoin("virtual_accounts as a", "a.id", "p.owner_id")
    .select(["p.id", "p.json", "p.made_with", "p.last_used_at", "j.valid_until", "a.expires_on"]);
  // Rows of tokens are small, so the size of the page is not checked.
  const found = await newestFirst(listed, "p.", call.page).execute();
  return {
    rows: found.map((row) => toText(shown(row, context))),
    total: await countTotal(rows, call.page, found.length),
  };
};

type Listed = Pick<Tables["personal_tokens"], "id" | "json" | "made_with" | "last_used_at"> & {
  readonly valid_until: number | null;
  readonly expires_on: string | null;
};

function shown(
  { id, json, made_with, last_used_at, valid_until, expires_on }: Listed,
  { tokenUses }: Context,
): PersonalAccessToken {
  const { name, createdAt } = fromText(json);
  const ends = [valid_until, endOfDay(expires_on)].flatMap((end) => (end === null ? [] : [Number(end)]));
  const lastUse = tokenUses.unsaved(id) ?? last_used_at;
  return {
    id,
    name,
    subject: subjectOf(json),
    createdAt,
    ...(made_with !== null && { createdWith: made_with }),
    ...(lastUse !== null && { lastUsedAt: momentOf(lastUse) }),
    ...(ends.length > 0 && { expiry: momentOf(Math.min(...ends)) }),
  };
}

function momentOf(time: number): string {
  return new Date(Number(time)).toISOString();
}
