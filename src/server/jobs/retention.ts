import { sql, type Transaction } from "kysely";
import { pruneAudit } from "../audit/prune.ts";
import type { Context } from "../context.ts";
import { idPrefixAt } from "../database/id-generator.ts";
import { fromText, toText } from "../database/json-text.ts";
import type { Tables } from "../database/tables.ts";
import type { BackgroundJob } from "../resource.ts";

declare module "../database/tables.ts" {
  interface Tables {
    /** One row for each kind of row that is pruned: when that is due, and how far the present sweep has come. */
    readonly retention: { readonly name: string; readonly due_at: number; readonly after: string };
  }
}

/** How much of what has ended is kept. */
export type Retention = {
  /** Days for which runs that have ended, and the status history of rollouts that have, are kept. @default 90 */
  readonly days: number;
  /** Of how many versions of each application the status history is kept. @default 1000 */
  readonly histories: number;
  /** How many runs of each job that have ended are kept. @default 1000 */
  readonly runs: number;
  /** How many replies to writes with an idempotency key are kept, of the last day. @default 1,000,000 */
  readonly replies: number;
  /** Days for which rows of the audit log are kept. @default 365 */
  readonly auditDays: number;
  /** How many rows of the audit log are kept. @default 5,000,000 */
  readonly auditRows: number;
};

/** What is kept unless the operator says otherwise. */
export const keptByDefault: Retention = {
  days: 90,
  histories: 1000,
  runs: 1000,
  replies: 1_000_000,
  auditDays: 365,
  auditRows: 5_000_000,
};

/** A sweep in progress: `after` says how far it has come, and is empty before its first batch. */
type Sweep = { readonly kept: Retention; readonly now: number; readonly after: string };

/** How one kind of row is pruned. */
type Prune = {
  /** Returns the first `after`; not in a transaction, since it may read long. */
  readonly begin?: (sweep: Sweep, context: Context) => Promise<string>;
  /** Prunes a batch of rows: how many, and where the next batch begins; null when there is no more. */
  readonly batch: (
    transaction: Transaction<Tables>,
    sweep: Sweep,
    context: Context,
  ) => Promise<{ readonly pruned: number; readonly after: string | null }>;
};

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
// Other writers wait for a batch, and have their turn before the next one.
const BATCH = 200;
const PAUSE_MS = 50;
// Manifests are beside the histories, and each may have megabytes.
const HISTORY_BATCH = 20;
// Of so many deployments it is found out whether their history is old.
const HISTORY_WINDOW = 500;

// A run without a time to be looked at may also be stuck.
const ENDED = '%"endTime":%';

const prunes: { readonly [name: string]: Prune } = {
  /** Of the statuses of old rollouts the last one stays, with the deployment itself. */
  "status-history": {
    batch: async (transaction, sweep) => {
      const { rows, after } = await oldHistories(transaction, sweep);
      let pruned = 0;
      for (const { id, json } of rows) {
        const deployment = fromText(json);
        const [last] = deployment.deploymentStatuses.slice(-1);
        if (last === undefined || deployment.deploymentStatuses.length === 1) continue;
        pruned += deployment.deploymentStatuses.length - 1;
        const shorter = toText({ ...deployment, deploymentStatuses: [last] });
        await transaction.updateTable("deployments").set({ json: shorter }).where("id", "=", id).execute();
      }
      return { pruned, after };
    },
  },
  /** The newest run of each job stays. */
  "job-runs": {
    batch: async (transaction, { kept, now }) => {
      const end = idPrefixAt(Math.floor(now - kept.days * DAY));
      const { rows } = await sql<{ readonly id: string }>`
      SELECT r.id FROM job_runs r WHERE r.id < ${end} AND r.json LIKE ${ENDED}
        AND EXISTS (SELECT 1 FROM job_runs n WHERE n.job_id = r.job_id AND n.created_at > r.created_at)
      ORDER BY r.id LIMIT ${BATCH}`.execute(transaction);
      const old = rows.length > 0 ? rows : await runsBeyond(transaction, kept.runs);
      const ids = old.map(({ id }) => id);
      if (ids.length > 0) await transaction.deleteFrom("job_runs").where("id", "in", ids).execute();
      return { pruned: ids.length, after: ids.length === 0 ? null : "" };
    },
  },
  /** Those that a repeat no longer gets, and the oldest ones beyond the number. */
  "stored-replies": {
    batch: async (transaction, { kept, now, after }) => {
      const expired = sql`SELECT key_hash, principal, request FROM kept_replies
      WHERE kept_until <= ${Math.floor(now)} LIMIT ${BATCH}`;
      const pruned = await deleteReplies(transaction, expired);
      if (pruned > 0) return { pruned, after: "" };
      // Counted once in a sweep, since that reads an index as a whole.
      const left = after === "" ? (await countReplies(transaction)) - kept.replies : Number(after);
      if (left <= 0) return { pruned: 0, after: null };
      const oldest = sql`SELECT key_hash, principal, request FROM kept_replies
      ORDER BY kept_until LIMIT ${Math.min(left, BATCH)}`;
      const deleted = await deleteReplies(transaction, oldest);
      return { pruned: deleted, after: deleted === 0 || left <= BATCH ? null : String(left - deleted) };
    },
  },
  /** A signed mark in each chain says up to where it was pruned; `after` is the first id that stays. */
  audit: {
    begin: firstKeptAuditRow,
    batch: async (transaction, { after }, context) => {
      const { pruned, hasMore } = await pruneAudit(transaction, context, after);
      return { pruned, after: hasMore ? after : null };
    },
  },
};

/** Deployments whose history is older than is kept, or beyond the number that is kept of their application. */
async function oldHistories(transaction: Transaction<Tables>, { kept, now, after }: Sweep) {
  const window = transaction.selectFrom("deployments").select("id").where("id", ">", after).orderBy("id");
  const end = await window
    .offset(HISTORY_WINDOW - 1)
    .limit(1)
    .executeTakeFirst();
  const oldest = Math.floor(now - kept.days * DAY);
  const rows = await transaction
    .selectFrom("deployments as d")
    .innerJoin("applications as a", "a.id", "d.application_id")
    .innerJoin("deployments as newest", "newest.id", "a.last_deployment_id")
    .select(["d.id", "d.json"])
    .where("d.id", ">", after)
    .$if(end !== undefined, (within) => within.where("d.id", "<=", end?.id ?? ""))
    .where("d.is_over", "=", 1)
    .where(({ and, or, eb }) =>
      or([
        and([
          eb("d.id", "<", idPrefixAt(oldest)),
          eb("d.created_at", "<", new Date(Math.max(0, oldest)).toISOString()),
        ]),
        eb(eb("newest.version", "-", eb.ref("d.version")), ">=", kept.histories),
      ]),
    )
    .orderBy("d.id")
    .limit(HISTORY_BATCH)
    .execute();
  return { rows, after: (rows.length < HISTORY_BATCH ? end?.id : rows.at(-1)?.id) ?? null };
}

/** The id from which on rows of the audit log are kept. */
async function firstKeptAuditRow({ kept: { auditDays, auditRows }, now }: Sweep, { store }: Context): Promise<string> {
  const first = await store.read
    .selectFrom("audit")
    .select("id")
    .orderBy("id", "desc")
    .offset(auditRows - 1)
    .limit(1)
    .executeTakeFirst();
  const old = idPrefixAt(Math.floor(now - auditDays * DAY));
  const wanted = first !== undefined && first.id > old ? first.id : old;
  // However many rows there are, those of the last hour stay.
  const latest = idPrefixAt(Math.floor(now - HOUR));
  return wanted < latest ? wanted : latest;
}

/** The oldest of the ended runs of one job that has too many. */
async function runsBeyond(transaction: Transaction<Tables>, most: number) {
  const job = await transaction
    .selectFrom("job_runs")
    .select("job_id")
    .groupBy("job_id")
    .having(({ fn }) => fn.countAll(), ">", most)
    .limit(1)
    .executeTakeFirst();
  if (job === undefined) return [];
  return transaction
    .selectFrom("job_runs")
    .select("id")
    .where("job_id", "=", job.job_id)
    .where(sql<boolean>`json LIKE ${ENDED}`)
    .where("id", "not in", (within) =>
      within
        .selectFrom("job_runs as n")
        .select("n.id")
        .where("n.job_id", "=", job.job_id)
        .orderBy("n.created_at", "desc")
        .orderBy("n.id", "desc")
        .limit(most),
    )
    .limit(BATCH)
    .execute();
}

async function deleteReplies(transaction: Transaction<Tables>, chosen: ReturnType<typeof sql>): Promise<number> {
  const { numAffectedRows } =
    await sql`DELETE FROM kept_replies WHERE (key_hash, principal, request) IN (${chosen})`.execute(transaction);
  return Number(numAffectedRows ?? 0);
}

async function countReplies(transaction: Transaction<Tables>): Promise<number> {
  const { count } = await transaction
    .selectFrom("kept_replies")
    .select(({ fn }) => fn.countAll().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** The sweep of a kind of row if that is due, with how far it has come; null if it is not. */
async function dueSweep(
  transaction: Transaction<Tables>,
  name: string,
  { store }: Context,
): Promise<Omit<Sweep, "kept"> | null> {
  const now = await store.time(transaction);
  const row = await transaction
    .selectFrom("retention")
    .select(["due_at", "after"])
    .where("name", "=", name)
    .executeTakeFirst();
  return row !== undefined && Number(row.due_at) > now ? null : { now, after: row?.after ?? "" };
}

function saveProgress(transaction: Transaction<Tables>, values: Tables["retention"]) {
  return transaction
    .insertInto("retention")
    .values(values)
    .onConflict((conflict) => conflict.column("name").doUpdateSet(values))
    .execute();
}

/**
 * Prunes what is older, or more, than is kept: once an hour, in small transactions, on one server at a time. A row of the
 * database says when that is due, and is changed with each batch.
 */
export function retentionJob(kept: Retention): BackgroundJob {
  const counts = new Map<string, number>();
  const pruneNext = async (name: string, { begin, batch }: Prune, context: Context): Promise<boolean> => {
    const { store, log } = context;
    let first = "";
    if (begin !== undefined) {
      const due = await store.write((transaction) => dueSweep(transaction, name, context));
      if (due === null) return false;
      if (due.after === "") first = await begin({ kept, ...due }, context);
    }
    const done = await store.write(async (transaction) => {
      const due = await dueSweep(transaction, name, context);
      if (due === null) return null;
      const { now } = due;
      const sweep = { kept, now, after: due.after === "" ? first : due.after };
      const { pruned, after } = await batch(transaction, sweep, context);
      const values = { name, due_at: Math.ceil(after === null ? now + HOUR : now), after: after ?? "" };
      // Of two servers, one gets a conflict.
      await saveProgress(transaction, values);
      return { pruned, hasMore: after !== null };
    });
    if (done === null) return false;
    counts.set(name, (counts.get(name) ?? 0) + done.pruned);
    if (done.hasMore) return true;
    const pruned = counts.get(name) ?? 0;
    counts.delete(name);
    if (pruned > 0) log.info({ event: "pruned", what: name, count: pruned }, "what is no longer kept was deleted");
    return false;
  };
  return {
    name: "retention",
    run: async (context) => {
      let hasMore = false;
      for (const [name, prune] of Object.entries(prunes)) if (await pruneNext(name, prune, context)) hasMore = true;
      return context.clock.now() + (hasMore ? PAUSE_MS : HOUR);
    },
  };
}
