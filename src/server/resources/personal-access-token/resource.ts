// src/server/resources/personal-access-token: tokens of persons. See docs/control-plane.md#tokens.

import type { PersonalAccessToken } from "../../../contract/generated/resources.ts";
import { notFound } from "../../../http/http-error.ts";
import { subjectName } from "../../../model/roles.ts";
import { isTenantAdmin } from "../../auth/access.ts";
import type { Context } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { fromText, toText } from "../../database/json-text.ts";
import { countTotal, newestFirst } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler } from "../../http/operation-call.ts";
import { oneTimeToken } from "../../openapi/operation-description.ts";
import type { BackgroundJob, ResourceDefinition } from "../../resource.ts";
import { endOfDay } from "../virtual-account/expiry.ts";
import { accountsSection } from "../virtual-account/resource.ts";
import { getPersonalAccessToken } from "./get-or-create.ts";
import {
  authenticatePersonalToken,
  deleteInvalidTokens,
  findOwner,
  revokeToken,
  subjectOf,
  validTokens,
} from "./rows.ts";

/** Lists tokens, without the tokens themselves. */
const listPersonalAccessTokens: Handler<"listPersonalAccessTokens"> = async (call, context) => {
  const { read } = context.store;
  const { subject } = call.query;
  const wanted = [
    ...(isTenantAdmin(call.principal) ? [] : [call.principal.subject]),
    ...(subject === undefined ? [] : [await findOwner(read, subjectName(subject))]),
  ];
  let rows = validTokens(read, context.clock.now());
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

const revokePersonalAccessToken: Handler<"revokePersonalAccessToken"> = async ({ principal, body }, context) =>
  context.store.write(async (transaction) => {
    const token = await transaction
      .selectFrom("personal_tokens")
      .select(["id", "json", "owner_type", "owner_id"])
      .where("id", "=", body.revoke)
      .executeTakeFirst();
    const { subjectType, subjectId } = principal.subject;
    const isOwn = token?.owner_type === subjectType && token.owner_id === subjectId;
    if (token === undefined || !(isOwn || isTenantAdmin(principal))) throw notFound("the token");
    for (const { json } of await revokeToken(transaction, token)) {
      const resource = `personal-access-token/${subjectOf(json)}/${fromText(json).name}`;
      await recordEffect(transaction, context, { principal, operation: "revokePersonalAccessToken", resource });
    }
    return undefined;
  });

const MINUTE = 60_000;

const saveUses: BackgroundJob = {
  name: "saving when tokens were used",
  run: async ({ tokenUses, clock }) => {
    await tokenUses.save();
    return clock.now() + MINUTE;
  },
  finish: ({ tokenUses }) => tokenUses.save(),
};

/** The operations on personal access tokens: 7, E12 and E13. */
export const resource: ResourceDefinition = {
  section: accountsSection,
  operations: [
    defineOperation("getPersonalAccessToken", getPersonalAccessToken, {
      beside: {
        token: oneTimeToken,
        created: { description: "Whether this call created it", type: "boolean", examples: [true] },
      },
      alwaysBeside: ["created"],
      // Everyone may have tokens of their own.
      refuses: { never: [403, 404] },
      description:
        "Returns the caller's own token of that name. When there is none it is created: `created` is true, and `token` is in this reply only. It becomes invalid with the credential that created it, or when it is revoked.\n\nAlthough a GET, this is a write: do not repeat it blindly.",
      replySchema: "VirtualAccount",
      parameters: {
        name: {
          description: "Name of the token",
          example: "laptop",
          schema: {
            maxLength: 64,
            pattern: "^[A-Za-z0-9._-]{1,64}$",
            "x-form": "1 to 64 letters, digits, '-', '_' or '.'",
          },
        },
      },
    }),
    defineOperation("listPersonalAccessTokens", listPersonalAccessTokens, {
      description:
        "The caller's own tokens, newest first; a tenant-admin sees all. A token becomes invalid with the credential that created it, and is not listed then.",
      replySchema: "PersonalAccessToken",
      parameters: { subject: { description: "Only those of this subject", example: "virtualaccount:ci" } },
    }),
    defineOperation("revokePersonalAccessToken", revokePersonalAccessToken, {
      description:
        "Revokes a token of the caller, and those that were created with it, at once; a tenant-admin may revoke any token. A token that does not exist any more is 404.",
      members: {
        revoke: {
          description: "Id of the token to revoke",
          minLength: 1,
          examples: ["019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"],
        },
      },
    }),
  ],
  jobs: [saveUses],
  forget: (transaction, { clock }) => deleteInvalidTokens(transaction, clock.now()),
  authenticate: authenticatePersonalToken,
};

function shown(
  {
    id,
    json,
    made_with,
    last_used_at,
    valid_until,
    expires_on,
  }: Pick<Tables["personal_tokens"], "id" | "json" | "made_with" | "last_used_at"> & {
    readonly valid_until: number | null;
    readonly expires_on: string | null;
  },
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
