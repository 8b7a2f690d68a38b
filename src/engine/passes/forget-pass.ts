import { HoldfastError } from "../../core/errors.ts";
import type { Identity } from "../../core/manifest.ts";
import type { RecordsEvent } from "../../core/report/events.ts";
import type { Pass } from "../pass.ts";
import { recordsEvent } from "./records-event.ts";

/** A pass that drops the records of resources that left the source, and leaves live as it is. */
export type ForgetMode = { readonly is: "forget"; readonly identities: readonly Identity[] };

/** Drops the records of orphans: they are nobody's from then on, and no plan tells of them any more. */
export async function forgetPass({ connection, read }: Pass, { identities }: ForgetMode): Promise<RecordsEvent> {
  const { session } = connection;
  const recorded = await session.heads();
  const unknown = identities.find((identity) => !recorded.has(identity));
  if (unknown !== undefined) {
    throw new HoldfastError("invalid", `${unknown} is not recorded for ${session.server}`, {
      hint: "holdfast plan lists the orphans, which are recorded and no longer declared",
    });
  }
  const declared = identities.find((identity) => read.desired.declared.has(identity));
  if (declared !== undefined) {
    throw new HoldfastError(
      "refused",
      `${declared} is declared still: without its record nobody knows who changed it`,
      {
        hint: "remove its manifest first; nothing was forgotten",
      },
    );
  }
  await session.ledger.forget(identities);
  return recordsEvent("forget", session.server, { changed: identities, left: [] });
}
