import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import { declarersOf } from "../../core/plan/orphans.ts";
import type { RecordsEvent } from "../../core/report/events.ts";
import type { Desired } from "../load/desired.ts";
import type { Pass } from "../pass.ts";
import { recordsEvent } from "./records-event.ts";

/** A pass that drops the records of resources that were removed from the source, and leaves live as it is. */
export type ForgetMode = { readonly is: "forget"; readonly identities: readonly Identity[] };

/** Drops what the ledger knows of orphans: they become unmanaged, and plans no longer list them. */
export async function forgetPass({ connection, read }: Pass, { identities }: ForgetMode): Promise<RecordsEvent> {
  const { session } = connection;
  const recorded = await session.heads();
  const { removed } = session.capabilities;
  const isRemovedEarlier = (one: Identity): boolean => removed?.some(({ identity }) => identity === one) === true;
  const unknown = identities.find((identity) => !recorded.has(identity) && !isRemovedEarlier(identity));
  if (unknown !== undefined) {
    throw new HoldfastError("invalid", `${unknown} is not recorded for ${session.server}`, {
      hint: "holdfast plan lists the orphans; one without a record is no longer listed once it is removed on the platform",
    });
  }
  const declared = identities.find((identity) => read.desired.declared.has(identity));
  if (declared !== undefined) {
    throw new HoldfastError(
      "refused",
      `${declared} is still declared: without its record the cause of later changes is unknown`,
      {
        hint: "remove its manifest first; nothing was forgotten",
      },
    );
  }
  for (const identity of identities) requireReadable(identity, read.desired);
  if (removed !== null) {
    session.capabilities.agree({ removed: removed.filter(({ identity }) => !identities.includes(identity)) });
  }
  await session.ledger.forget(identities);
  return recordsEvent("forget", session.server, { changed: identities, left: [] });
}

function requireReadable(identity: Identity, desired: Desired): void {
  const [unreadable] = declarersOf(identity, desired.nameless);
  if (unreadable === undefined) return;
  const at = unreadable.line === null ? unreadable.file : `${unreadable.file}:${unreadable.line}`;
  throw new HoldfastError("refused", `${identity} may be declared by a manifest that cannot be read: ${at}`, {
    hint: "correct that manifest first; nothing was forgotten",
  });
}
