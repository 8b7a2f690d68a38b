import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Context } from "../../../src/server/context.ts";
import { markChanged, markerSums } from "../../../src/server/database/digests.ts";
import { createIdGenerator } from "../../../src/server/database/id-generator.ts";
import { sumsOfAll } from "../../../src/server/database/known-sums.ts";
import { migrations } from "../../../src/server/database/migrations.ts";
import type { Tables } from "../../../src/server/database/tables.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { machine } from "../../support/machine.ts";

/** A database with a few identities, whose sums are known. */
async function openKnown() {
  const path = join(await temporaryFolder(), "control-plane.db");
  const opened = await openSqliteStore<Tables>(path, migrations, machine);
  onTestFinished(() => opened.close());
  // As each request has.
  const store = (): Store<Tables> => ({ ...opened });
  const newId = createIdGenerator(machine.clock, machine.random);
  const write = (identity: string, until: Promise<unknown> = Promise.resolve(), begun: () => void = () => undefined) =>
    opened.write(async (transaction) => {
      await markChanged(transaction, identity, { newId, store: store() } as Context);
      begun();
      await until;
    });
  for (const identity of ["team/a", "team/b", "service/dev:web/api"]) await write(identity);
  const requireCurrent = async () => expect(await sumsOfAll(store())).toEqual(await markerSums(opened.read, ""));
  await requireCurrent();
  return { opened, store, write, requireCurrent };
}

test("what a transaction changes is summed again once it has ended", async () => {
  const { store, write, requireCurrent } = await openKnown();
  const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const written = write("team/c", mayEnd.promise, begun.resolve);
  await begun.promise;
  expect((await sumsOfAll(store())).map(({ count }) => count)).toEqual([1, 2]);
  mayEnd.resolve();
  await written;
  await requireCurrent();
  expect((await sumsOfAll(store())).map(({ count }) => count)).toEqual([1, 3]);
});

test("a request that was slow does not bring back the sums that it read", async () => {
  const { opened, store, write, requireCurrent } = await openKnown();
  await write("team/c");
  const [hasRead, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = opened.read.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      hasRead.resolve();
      await mayAnswer.promise;
      return result;
    },
  });
  const answered = sumsOfAll({ ...store(), read: slow });
  await hasRead.promise;
  await write("team/d");
  await requireCurrent();
  mayAnswer.resolve();
  expect((await answered).map(({ count }) => count)).toEqual([1, 3]);
  await requireCurrent();
});
