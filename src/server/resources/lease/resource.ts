// src/server/resources/lease: leases with fencing tokens. See docs/control-plane.md#leases.

import type { Transaction } from "kysely";
import { requireInvariant } from "../../../contract/invariant.ts";
import { badRequest, conflict, forbidden, malformed } from "../../../http/http-error.ts";
import { isPrintable } from "../../../model/unprintable.ts";
import { isAllowed } from "../../auth/access.ts";
import type { Context } from "../../context.ts";
import { recordEffect } from "../../database/audit.ts";
import { toText } from "../../database/json-text.ts";
import { countRows } from "../../database/select-page.ts";
import type { Tables } from "../../database/tables.ts";
import { defineOperation } from "../../http/define-operation.ts";
import type { Handler, OperationBody, OperationCall } from "../../http/operation-call.ts";
import { isScope } from "../../http/writes/write-headers.ts";
import type { ResourceDefinition, ResourceGauge } from "../../resource.ts";
import {
  cutLongLeases,
  deleteOldLeases,
  issueNumber,
  type LeaseRow,
  lockLeases,
  overlappingLeases,
  saveLease,
  toLeaseResource,
} from "./rows.ts";
import { scopeName, scopePath, scopeTarget } from "./scope.ts";

/** The number of leases that are held now. */
const leaseGauge: ResourceGauge = {
  name: "holdfast_leases",
  help: "Leases that are held.",
  shownTo: "trusted",
  read: ({ store, clock }) =>
    countRows(store.read.selectFrom("leases").where("holder", "!=", "").where("expires_at", ">", clock.now())),
};

const putLease: Handler<"putLease"> = async (call, context) => {
  const { principal, path, body } = call;
  checkForm(path.scope, body, context);
  if (!isAllowed(principal, "write", scopeTarget(path.scope))) throw forbidden("you may not write in this scope");
  await cutLongLeases(context);
  const { lease, transition } = await context.store.write(async (transaction) => {
    await lockLeases(transaction);
    const now = await context.store.time(transaction);
    const overlapping = await overlappingLeases(transaction, scopePath(path.scope));
    const change: Change = { transaction, call, context, now, overlapping, scope: scopeName(scopePath(path.scope)) };
    return body.release === true ? release(change) : take(change);
  });
  // Renewals are not logged.
  if (transition !== null) {
    const { scope, number } = lease;
    const fields = { scope, holder: body.holder, principal: principal.name, number };
    context.log.info({ ...transition, ...fields }, TRANSITIONS[transition.event]);
  }
  return { data: toText(toLeaseResource(lease, path.scope)) };
};

const TRANSITIONS = {
  "lease-taken": "the lease was taken",
  "lease-taken-over": "the lease was taken over: its former holders have lost it",
  "lease-released": "the lease was released",
  "lease-broken": "the lease was broken: its former holders have lost it",
} as const;

/** What became of the right to write, with those who lost it. */
type Transition = { readonly event: keyof typeof TRANSITIONS; readonly from?: readonly string[] };

type Outcome = { readonly lease: LeaseRow; readonly transition: Transition | null };

/** The operation on leases: E10. */
export const resource: ResourceDefinition = {
  section: { name: "Leases", description: "The exclusive right to write in a scope." },
  operations: [
    defineOperation("putLease", putLease, {
      scope: ({ path }) => path.scope,
      description:
        "Takes the lease, renews it for its holder, or releases it. Scopes are a tree: the whole tenant (its name), a cluster `c`, a workspace `c:w`; ml repos and other texts are directly below the tenant. 409 while another holder has it, or a lease above or below it. Needs write on the scope. `fencingToken` comes from one sequence for all scopes; sent as `X-Fencing-Token`, it rejects writers that have lost the lease.",
      replySchema: "Lease",
      members: {
        holder: { description: "Who takes the lease", minLength: 1, maxLength: 256, examples: ["holdfast-0"] },
        ttlSeconds: {
          description: "How long the lease is valid unless renewed; the server has a maximum, by default 900 seconds",
          minimum: 1,
          examples: [30],
          "x-unit": "seconds",
        },
        release: { description: "Release the lease instead", default: false },
        break: {
          description:
            "End the leases that others hold on the scope, above it or in it, which needs admin on each; with `release`, the one on the scope alone",
          default: false,
        },
      },
      parameters: {
        scope: {
          description: "What the lease is for; percent-encoded",
          example: "prod-eu:ranking",
          schema: {
            maxLength: 256,
            pattern: "^[\\x21-\\x7e]*$",
            "x-form": "up to 256 printable characters without spaces",
          },
        },
      },
    }),
  ],
  gauges: [leaseGauge],
  forget: async (transaction, { store }) => deleteOldLeases(transaction, await store.time(transaction)),
};

/** A change of a lease in its transaction. */
type Change = {
  readonly transaction: Transaction<Tables>;
  readonly call: OperationCall<"putLease">;
  readonly context: Context;
  readonly now: number;
  /** The leases of overlapping scopes, expired ones included. */
  readonly overlapping: readonly LeaseRow[];
  /** The name of the scope. */
  readonly scope: string;
};

async function take(change: Change): Promise<Outcome> {
  const { transaction, call, now, overlapping, scope } = change;
  const { principal, body } = call;
  const ended = await endOthers(change, overlapping);
  const former = overlapping.find((lease) => lease.scope === scope);
  const isNewest = overlapping.every(({ number }) => number <= (former?.number ?? 0));
  // The former holder keeps its number, even after expiry, unless a newer one was issued since.
  const isRenewal = former !== undefined && isHeldBy(former, change) && isNewest;
  const number = isRenewal ? former.number : await issueNumber(transaction);
  requireInvariant(
    overlapping.every((lease) => lease.number <= number),
    "fence",
    "a lease has the newest number",
  );
  const { holder, ttlSeconds } = body;
  const lease = { scope, holder, principal: principal.name, number, expires_at: now + ttlSeconds * 1000 };
  await saveLease(transaction, lease);
  // Renewals are not audited.
  if (!isRenewal) await audit(change, `lease/${scope}`);
  // One that has expired ends when another holder takes it.
  const expired = former === undefined || former.holder === "" || isHeldBy(former, change) ? [] : [former];
  const from = [...new Set([...ended, ...expired].map((lost) => lost.holder))];
  return { lease, transition: isRenewal ? null : takenFrom(from) };
}

function takenFrom(from: readonly string[]): Transition {
  return from.length > 0 ? { event: "lease-taken-over", from } : { event: "lease-taken" };
}

async function release(change: Change): Promise<Outcome> {
  const { transaction, call, now, overlapping, scope } = change;
  const { holder } = call.body;
  const former = overlapping.filter((lease) => lease.scope === scope);
  const broken = await endOthers(change, former);
  const [own] = former.filter((lease) => isHeldBy(lease, change));
  const ended = { scope, ...noHolder, number: own?.number ?? former[0]?.number ?? 0, expires_at: now };
  if (own !== undefined) await saveLease(transaction, ended);
  const isReleased = own !== undefined && own.expires_at > now;
  if (isReleased) await audit(change, `lease/${scope}`);
  return { lease: { ...ended, holder }, transition: endOf(broken, isReleased) };
}

function endOf(broken: readonly LeaseRow[], isReleased: boolean): Transition | null {
  if (broken.length > 0) return { event: "lease-broken", from: broken.map((lost) => lost.holder) };
  return isReleased ? { event: "lease-released" } : null;
}

// A released lease has no holder: it gets a new number even when the same holder takes it again.
const noHolder = { holder: "", principal: "" };

/** Ends and returns the leases that other holders have, if the caller requests it and may; their numbers become stale. */
async function endOthers(change: Change, leases: readonly LeaseRow[]): Promise<readonly LeaseRow[]> {
  const { transaction, call, now } = change;
  const conflicting = leases
    .filter((lease) => lease.expires_at > now && !isHeldBy(lease, change))
    .toSorted((one, other) => other.expires_at - one.expires_at);
  const [last] = conflicting;
  if (last === undefined) return [];
  if (call.body.break !== true) throw held(last, change);
  for (const { scope } of conflicting) {
    if (!isAllowed(call.principal, "admin", scopeTarget(scope)))
      throw forbidden(`you may not break the lease on ${scope}`);
    await saveLease(transaction, { scope, ...noHolder, number: await issueNumber(transaction), expires_at: now });
    await audit(change, `broken-lease/${scope}`);
  }
  return conflicting;
}

// Two callers may use the same name: the same holder of another caller is another holder.
function isHeldBy({ holder, principal }: LeaseRow, { call }: Change): boolean {
  return holder === call.body.holder && principal === call.principal.name;
}

function held({ scope, holder, expires_at: end }: LeaseRow, change: Change): Error {
  const which = scope === change.scope ? "this lease" : `the lease on ${scope}, which overlaps with ${change.scope},`;
  return conflict("lease-held", `${holder} has ${which} until ${new Date(end).toISOString()}`);
}

function audit({ transaction, call, context }: Change, resource: string): Promise<void> {
  return recordEffect(transaction, context, { principal: call.principal, operation: "putLease", resource });
}

function checkForm(
  scope: string,
  { holder, ttlSeconds }: OperationBody<"putLease">,
  { maxLeaseSeconds }: Context,
): void {
  if (!isScope(scope)) throw badRequest("the scope must be at most 256 printable characters without spaces");
  if (!isPrintable(holder) || !/^.{1,256}$/u.test(holder))
    throw badMember("/holder", "must be 1 to 256 printable characters");
  if (ttlSeconds < 1 || ttlSeconds > maxLeaseSeconds)
    throw badMember("/ttlSeconds", `must be from 1 to ${maxLeaseSeconds}`);
}

function badMember(pointer: string, message: string): Error {
  return malformed([{ pointer, message, code: "form" }]);
}
