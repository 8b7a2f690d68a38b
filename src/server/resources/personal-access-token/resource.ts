import { notFound } from "../../../http/http-error.ts";
import { isTenantAdmin } from "../../auth/access.ts";
import { recordEffect } from "../../database/audit.ts";
import { fromText } from "../../database/json-text.ts";
import type { Handler } from "../../http/operation-call.ts";
import { serveOperation } from "../../http/serve-operation.ts";
import { oneTimeToken } from "../../openapi/shared-text.ts";
import type { BackgroundJob, Resource } from "../../resource.ts";
import { accountsSection } from "../virtual-account/resource.ts";
import { authenticatePersonalToken } from "./authenticate.ts";
import { getPersonalAccessToken } from "./get.ts";
import { listPersonalAccessTokens } from "./list.ts";
import { deleteInvalidTokens, revokeToken, subjectOf } from "./rows.ts";

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

const keepUses: BackgroundJob = {
  name: "keeping when tokens were used",
  run: async ({ tokenUses, now }) => {
    await tokenUses.keep();
    return now() + MINUTE;
  },
  finish: ({ tokenUses }) => tokenUses.keep(),
};

/** The operations on personal access tokens: 7, E12 and E13. */
export const resource: Resource = {
  section: accountsSection,
  operations: [
    serveOperation("getPersonalAccessToken", getPersonalAccessToken, {
      beside: {
        token: oneTimeToken,
        created: { description: "Whether this call made it", type: "boolean", examples: [true] },
      },
      alwaysBeside: ["created"],
      // Everyone may have tokens of their own.
      refuses: { never: [403, 404] },
      description:
        "Answers the caller's own token of that name. When there is none it is made: `created` is true, and `token` is in this reply only. It ends with the credential that made it, or when it is revoked.\n\nAlthough a GET, this is a write: do not repeat it blindly.",
      answers: "VirtualAccount",
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
    serveOperation("listPersonalAccessTokens", listPersonalAccessTokens, {
      description:
        "The caller's own, newest first; a tenant-admin sees everyone's. A token ends with the credential that made it, and is listed no more then.",
      answers: "PersonalAccessToken",
      parameters: { subject: { description: "Only those of this subject", example: "virtualaccount:ci" } },
    }),
    serveOperation("revokePersonalAccessToken", revokePersonalAccessToken, {
      description:
        "Ends a token of the caller's own, and those that were made with it, at once; a tenant-admin may end anyone's. A token that is gone already is 404.",
      members: {
        revoke: {
          description: "Id of the token that is to end",
          minLength: 1,
          examples: ["019aa2c4-7f5e-7c3b-9d1e-4b8a52f0c6d1"],
        },
      },
    }),
  ],
  jobs: [keepUses],
  forget: (transaction, { now }) => deleteInvalidTokens(transaction, now()),
  authenticate: authenticatePersonalToken,
};
