// src/engine/observe: the phase that reads live. See docs/architecture.md#what-a-list-lacks.

import { forEachConcurrently } from "../../client/for-each-concurrently.ts";
import type { Kind, ListReading } from "../../core/kind.ts";
import type { Live } from "../../core/live.ts";
import { type Identity, splitIdentity, splitVersion } from "../../core/manifest.ts";
import { type ListAccess, type LiveList, listLive, MAX_SINGLE_LOOKUPS } from "./list-live.ts";
import { readById } from "./read-by-id.ts";

/** Recorded resources that a list does not show. */
export type MissingFromList = {
  readonly kind: Kind;
  readonly list: ListReading;
  readonly identities: readonly Identity[];
  /** The id in the ledger. */
  readonly idOf: (identity: Identity) => string | null;
};

/**
 * Reads recorded resources again that a list does not show: from the list, then by id where the kind has such a read. A
 * list that is empty by mistake must not cause everything to be created again.
 */
export async function confirmAbsent(
  lacking: MissingFromList,
  context: ListAccess & { readonly concurrency: number },
): Promise<ReadonlyMap<Identity, Live>> {
  const { kind, identities, idOf } = lacking;
  const { single } = kind;
  const live = new Map(await listAgain(lacking, { ...context, known: null }));
  if (single === undefined) return live;
  const absent = identities.filter((identity) => live.get(identity)?.state === "absent");
  await forEachConcurrently(absent, context.concurrency, async (identity) => {
    const id = idOf(identity);
    const row = id === null ? null : await readById(single, id, context);
    if (row !== null && row !== "in-sync" && row.key === splitIdentity(identity).key)
      live.set(identity, { state: "present", row });
  });
  return live;
}

async function listAgain(
  { kind, list, identities }: MissingFromList,
  context: ListAccess,
): Promise<readonly (readonly [Identity, Live])[]> {
  const { narrow } = list;
  const read = (others: readonly Identity[], query: { readonly [name: string]: string }): Promise<LiveList> =>
    listLive({ kind, list, narrow: query }, { declared: [], others }, context);
  if (narrow === undefined || identities.length > MAX_SINGLE_LOOKUPS) {
    const { live } = await read(identities, {});
    return [...live];
  }
  const lists = await Promise.all(
    identities.map(async (identity) => {
      const { name } = splitVersion(splitIdentity(identity).key);
      const { live } = await read([identity], narrow(name));
      return [...live];
    }),
  );
  return lists.flat();
}
