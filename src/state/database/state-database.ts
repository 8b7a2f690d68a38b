// src/state/database: what a state keeps in tables, in SQLite or PostgreSQL. See docs/architecture.md#state.

import type { Random } from "../../clock/random.ts";
import type { Identity } from "../../core/manifest.ts";
import type { Store } from "../../store/store.ts";
import type { StateTables } from "./state-schema.ts";

/** The database of a state. A process opens it once, so that no transaction of its own blocks another one. */
export type StateDatabase = AsyncDisposable & {
  /** Opens it for writing; creates it, or takes over what an earlier release left. */
  readonly writable: () => Promise<Store<StateTables>>;
  /** Opens it as it can be opened; null if nothing was stored yet. */
  readonly readable: () => Promise<Store<StateTables> | null>;
};

/** The id in the name under which leases are taken; it is made once. */
export async function holderId({ writable }: StateDatabase, random: Random): Promise<string> {
  const made = { one: 1, id: random.id().slice(0, 8) };
  return (await writable()).write(async (transaction) => {
    await transaction
      .insertInto("holder")
      .values(made)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await transaction.selectFrom("holder").select("id").executeTakeFirstOrThrow()).id;
  });
}

/** The resources that a state has records of, on any server. */
export async function recordedNames({ readable }: StateDatabase): Promise<readonly Identity[]> {
  const rows = await (await readable())?.read.selectFrom("receipt").select("identity").distinct().execute();
  return rows?.map(({ identity }) => identity) ?? [];
}
