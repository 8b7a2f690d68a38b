import { conflict, forbidden, notFound } from "../../http/http-error.ts";
import { subjectName } from "../../model/roles.ts";
import { isTenantAdmin } from "../auth/access.ts";
import { isAdministrator } from "../auth/admin-token/rows.ts";
import { recordDisabled } from "../auth/disabled-subjects.ts";
import { timestamp } from "../context.ts";
import { recordEffect } from "../database/audit.ts";
import { markChanged } from "../database/digests.ts";
import { defineOperation } from "../http/define-operation.ts";
import type { Handler } from "../http/operation-call.ts";
import type { ResourceDefinition } from "../resource.ts";
import { endTokensOf } from "./personal-access-token/revoke-subject-tokens.ts";
import { findOwner } from "./personal-access-token/rows.ts";
import { disabledAccount } from "./virtual-account/account.ts";
import { accountsSection } from "./virtual-account/resource.ts";
import { findAccountById, saveAccount } from "./virtual-account/rows.ts";

const disableSubject: Handler<"disableSubject"> = async ({ principal, body }, context) => {
  if (!isTenantAdmin(principal)) throw forbidden("you may not disable accounts or users");
  const subject = subjectName(body.subject);
  return context.store.write(async (transaction) => {
    const owner = await findOwner(transaction, subject);
    if (owner === null) throw notFound(`the subject ${subject}`);
    if (isAdministrator(owner.subjectType, owner.subjectId)) {
      throw conflict("administrator", "the administrator stays: holdfast admin-token rotate replaces its token");
    }
    const disabled_at = timestamp(context);
    if (!(await recordDisabled(transaction, { subject, disabled_at }))) return undefined;
    await endTokensOf(transaction, owner);
    const account = await findAccountById(transaction, owner.subjectId);
    if (account !== null) {
      await saveAccount(transaction, disabledAccount(account, disabled_at));
      await markChanged(transaction, `virtual-account/${account.name}`, context);
    }
    const resource = `disabled-subject/${subject}`;
    await recordEffect(transaction, context, { principal, operation: "disableSubject", resource });
    return undefined;
  });
};

/** The operation that ends the use of an account or a user for good: E16. */
export const resource: ResourceDefinition = {
  section: accountsSection,
  operations: [
    defineOperation("disableSubject", disableSubject, {
      description:
        "Ends all tokens of a virtual account or a user, and never issues one to it again. A virtual account stays, with `metadata.disabled`; writing it is 409 `disabled`. Its roles stay too, but nobody can use them. There is no way back. A repeated call changes nothing. Only tenant-admins may call it.",
      members: {
        subject: {
          description: "The virtual account or the user",
          minLength: 1,
          examples: ["virtualaccount:ci"],
        },
      },
    }),
  ],
};
