import type { Transaction } from "kysely";
import { badRequest, conflict, forbidden } from "../../http/refusal.ts";
import { may } from "../access.ts";
import type { Body, Handler } from "../call.ts";
import { recordEffect } from "../data/audit.ts";
import { highestSeen } from "../data/fences.ts";
import { findLease, type KeptLease, leaseOf, saveLease } from "../data/leases.ts";
import type { Tables } from "../data/tables.ts";
import { toText } from "../json-text.ts";
import { tenant } from "../principal.ts";
import { scopeTarget } from "../scope.ts";
import { type Served, serve } from "../serve.ts";
import { isScope } from "../write-headers.ts";

const LONGEST_SECONDS = 24 * 60 * 60;

const putLease: Handler<"putLease"> = async ({ principal, path: { scope }, body }, context) => {
  checkForm(scope, body);
  if (!may(principal, "write", scopeTarget(scope, tenant))) throw forbidden("you may not write in this scope");
  return context.store.write(async (transaction) => {
    const now = await context.store.time(transaction);
    const former = await findLease(transaction, scope);
    const isHeld = former !== null && former.expires_at > now;
    const wanted = { scope, holder: body.holder, principal: principal.name };
    if (isHeld && !isSameHolder(former, wanted)) throw heldByAnother(former);
    const isRelease = body.release === true;
    const lease: KeptLease = {
      ...wanted,
      // The holder of a live lease keeps its number: it has been the only writer all along.
      number: isHeld || isRelease ? (former?.number ?? 0) : await nextNumber(transaction, former, wanted),
      expires_at: isRelease ? now : now + body.ttlSeconds * 1000,
    };
    if (isHeld || !isRelease) await saveLease(transaction, lease);
    // A renewal changes nothing that anybody would look for.
    if (isHeld === isRelease) {
      await recordEffect(transaction, context, { principal, operation: "putLease", resource: `lease/${scope}` });
    }
    return { data: toText(leaseOf(lease)) };
  });
};

/** The operation on leases: E10. */
export const leases: readonly Served[] = [serve("putLease", putLease)];

function checkForm(scope: string, { holder, ttlSeconds }: Body<"putLease">): void {
  if (!isScope(scope)) throw badRequest("the scope must be at most 256 printable characters without spaces");
  if (!/^[^\p{Cc}]{1,256}$/u.test(holder)) throw badMember("/holder", "must be 1 to 256 printable characters");
  if (ttlSeconds < 1 || ttlSeconds > LONGEST_SECONDS)
    throw badMember("/ttlSeconds", `must be from 1 to ${LONGEST_SECONDS}`);
}

function badMember(pointer: string, message: string): Error {
  return badRequest(`${pointer}: ${message}`, [{ pointer, message, code: "form" }]);
}

type Holder = Pick<KeptLease, "scope" | "holder" | "principal">;

// A name is easily taken twice: the same one of another caller is another holder.
function isSameHolder(one: Holder, other: Holder): boolean {
  return one.holder === other.holder && one.principal === other.principal;
}

function heldByAnother({ holder, expires_at: end }: KeptLease): Error {
  return conflict("lease-held", `${holder} has this lease until ${new Date(end).toISOString()}`);
}

// What callers make up beyond this fences nobody but themselves: else one of them could use up all numbers of a scope.
const LARGEST_MADE_UP = 2 ** 48;

// Above every number that was issued, and above those that the caller made up: it would be fenced by its own.
async function nextNumber(
  transaction: Transaction<Tables>,
  former: KeptLease | null,
  { scope, principal }: Holder,
): Promise<number> {
  const seen = await highestSeen(transaction, { principal, scope });
  return Math.max(former?.number ?? 0, seen > LARGEST_MADE_UP ? 0 : seen) + 1;
}
