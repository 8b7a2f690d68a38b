import type { Kysely } from "kysely";
import type { WrittenChanges } from "../../contract/generated/output.ts";
import type { Identity } from "../../core/manifest.ts";
import type { ResourceEvent } from "../../core/report/target-status.ts";
import { chunks } from "../../store/prepared-query.ts";
import { type ResourcesSeen, resourceChanges } from "../resource-events.ts";
import { KEPT_CHANGES, KEPT_EVENTS } from "../target-store.ts";
import { keptSince } from "./pass-records.ts";
import type { StateTables } from "./state-schema.ts";

/** Stores what a pass saw of resources: what has changed since the pass before, and the fields that it wrote. */
export async function storeResources(database: Kysely<StateTables>, seen: ResourcesSeen): Promise<void> {
  const { events, unsettled, settled } = resourceChanges(await unsettledBefore(database, seen), seen);
  for (const part of chunks(events)) {
    const values = part.map((event) => ({
      identity: event.identity,
      day: event.at.slice(0, 10),
      has_drifted: event.hasDrifted ? 1 : 0,
      event: JSON.stringify(event),
    }));
    const { changed } = seen;
    const insert = database.insertInto("resource_event").values(values);
    if (changed === undefined || changed.size === 0) await insert.execute();
    else await storeChanges(database, await insert.returning(["nth", "identity"]).execute(), changed);
  }
  for (const part of chunks(settled)) await database.deleteFrom("unsettled").where("identity", "in", part).execute();
  for (const part of chunks(unsettled)) {
    const values = part.map((event) => ({
      identity: event.identity,
      state: event.state,
      event: JSON.stringify(event),
    }));
    await database
      .insertInto("unsettled")
      .values(values)
      .onConflict((conflict) =>
        conflict
          .column("identity")
          .doUpdateSet(({ ref }) => ({ state: ref("excluded.state"), event: ref("excluded.event") })),
      )
      .execute();
  }
  if (events.length > 0) await removeOldEvents(database, seen);
}

async function storeChanges(
  database: Kysely<StateTables>,
  events: readonly { readonly nth: number; readonly identity: string }[],
  changed: ReadonlyMap<Identity, WrittenChanges>,
): Promise<void> {
  let through = (await lastChange(database))?.through ?? 0;
  const values = events.flatMap(({ nth, identity }) => {
    const found = changed.get(identity);
    if (found === undefined) return [];
    const text = JSON.stringify(found);
    through += text.length;
    return [{ event: nth, through, changed: text }];
  });
  if (values.length > 0) await database.insertInto("resource_change").values(values).execute();
}

function lastChange(database: Kysely<StateTables>): Promise<{ readonly through: number } | undefined> {
  return database.selectFrom("resource_change").select("through").orderBy("event", "desc").limit(1).executeTakeFirst();
}

async function removeOldChanges(database: Kysely<StateTables>): Promise<void> {
  const last = await lastChange(database);
  if (last === undefined) return;
  const oldest = await database.selectFrom("resource_event").select("nth").orderBy("nth").limit(1).executeTakeFirst();
  // The numbers of characters grow, so what is over the limit is at the beginning.
  const kept = await database
    .selectFrom("resource_change")
    .select("event")
    .where("through", ">", last.through - KEPT_CHANGES)
    .orderBy("event")
    .limit(1)
    .executeTakeFirst();
  const since = Math.max(oldest?.nth ?? 0, kept?.event ?? 0);
  await database.deleteFrom("resource_change").where("event", "<", since).execute();
}

// A pass over a part of the source concerns only what it saw.
async function unsettledBefore(
  database: Kysely<StateTables>,
  { isWhole, statuses }: ResourcesSeen,
): Promise<ReadonlyMap<Identity, ResourceEvent>> {
  const query = database.selectFrom("unsettled").select("event");
  const identities = chunks(statuses.map(({ identity }) => identity));
  const asked = isWhole ? [query] : identities.map((part) => query.where("identity", "in", part));
  const found = new Map<Identity, ResourceEvent>();
  for (const one of asked) {
    for (const { event } of await one.execute()) {
      const earlier: ResourceEvent = JSON.parse(event);
      found.set(earlier.identity, earlier);
    }
  }
  return found;
}

async function removeOldEvents(database: Kysely<StateTables>, { at }: ResourcesSeen): Promise<void> {
  const newest = await database.selectFrom("resource_event").select("nth").orderBy("nth", "desc").executeTakeFirst();
  if (newest === undefined) return;
  await database
    .deleteFrom("resource_event")
    .where("nth", "<=", newest.nth - KEPT_EVENTS)
    .execute();
  // Events are in the order of their times, so the old ones are at the beginning.
  const young = await database
    .selectFrom("resource_event")
    .select("nth")
    .where("day", ">=", keptSince(at).slice(0, 10))
    .orderBy("nth")
    .executeTakeFirst();
  if (young !== undefined) await database.deleteFrom("resource_event").where("nth", "<", young.nth).execute();
  await removeOldChanges(database);
}

/** Events with the fields that were written with them, where these are still kept. */
export async function changedEvents(
  database: Kysely<StateTables>,
  rows: readonly { readonly nth: number; readonly entry: string }[],
): Promise<readonly ResourceEvent[]> {
  const changed = new Map<number, string>();
  for (const part of chunks(rows.map(({ nth }) => nth))) {
    const found = database.selectFrom("resource_change").select(["event", "changed"]).where("event", "in", part);
    for (const row of await found.execute()) changed.set(row.event, row.changed);
  }
  return rows.map(({ nth, entry }) => {
    const text = changed.get(nth);
    return { ...JSON.parse(entry), ...(text !== undefined && { changed: JSON.parse(text) }) };
  });
}
