import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Context } from "../../context.ts";

const HOUR = 3_600_000;
// A version may be registered some time after its last file was stored.
const GRACE_MS = HOUR;
const BATCH = 500;
const PAUSE_MS = 50;

/**
 * Deletes the files of a stage that failed, or that has expired and was not registered; it counts as failed then. Of a
 * registered one it deletes what servers that were killed have left. Returns when to run again, in epoch milliseconds.
 */
export async function sweepStages(context: Context): Promise<number> {
  const { store, clock } = context;
  const stage = await store.read
    .selectFrom("file_stages")
    .innerJoin("stages", "stages.id", "file_stages.stage_id")
    .select(["stage_id", "state"])
    .where("is_swept", "=", 0)
    .where(({ or, eb }) => or([eb("expires_at", "<", clock.now() - GRACE_MS), eb("state", "=", "failed")]))
    .orderBy("expires_at")
    .limit(1)
    .executeTakeFirst();
  if (stage === undefined) return clock.now() + HOUR;
  await (stage.state === "registered" ? sweepRegistered(stage.stage_id, context) : sweepEnded(stage.stage_id, context));
  return clock.now() + PAUSE_MS;
}

async function sweepEnded(id: string, context: Context): Promise<void> {
  const { store, log } = context;
  const isEnded = await store.write(async (transaction) => {
    await transaction.updateTable("file_stages").set({ is_open: 0 }).where("stage_id", "=", id).execute();
    const open = transaction.updateTable("stages").set({ state: "failed" }).where("id", "=", id);
    await open.where("state", "=", "open").execute();
    const { state } = await transaction
      .selectFrom("stages")
      .select("state")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    return state === "failed";
  });
  // It was registered in the meantime.
  if (!isEnded) return;
  await rm(join(context.stagedFiles.folder, id), { recursive: true, force: true });
  while (await deleteRows(id, context));
  await setSwept(id, { is_swept: 1, files: 0, bytes: 0 }, context);
  log.info({ event: "stage-deleted", stage: id }, "the files of a stage that was not registered were deleted");
}

/** Deletes some rows of files; false when there are no more. */
async function deleteRows(id: string, { store }: Context): Promise<boolean> {
  const { numDeletedRows } = await store.write((transaction) =>
    transaction
      .deleteFrom("staged_files")
      .where("stage_id", "=", id)
      .where("key", "in", (within) =>
        within.selectFrom("staged_files").select("key").where("stage_id", "=", id).limit(BATCH),
      )
      .executeTakeFirstOrThrow(),
  );
  return Number(numDeletedRows) === BATCH;
}

async function sweepRegistered(id: string, context: Context): Promise<void> {
  const { store, stagedFiles } = context;
  const folder = join(stagedFiles.folder, id);
  const rows = await store.read
    .selectFrom("staged_files")
    .select("file")
    .where("stage_id", "=", id)
    .where("file", "is not", null)
    .execute();
  const known = new Set(rows.map(({ file }) => file));
  const found = await readdir(folder).catch(() => []);
  for (const name of found) if (!known.has(name)) await rm(join(folder, name), { recursive: true, force: true });
  await setSwept(id, { is_swept: 1 }, context);
}

async function setSwept(
  id: string,
  values: { readonly is_swept: 1; readonly files?: 0; readonly bytes?: 0 },
  { store }: Context,
): Promise<void> {
  await store.write((transaction) =>
    transaction.updateTable("file_stages").set(values).where("stage_id", "=", id).execute(),
  );
}
