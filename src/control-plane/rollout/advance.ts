import type { Transaction } from "kysely";
import type { Context } from "../context.ts";
import { type Deployed, findApplicationById, saveApplication, saveDeployment } from "../data/applications.ts";
import type { Tables } from "../data/tables.ts";
import { withOutcome, withProgress } from "../deployment.ts";
import { fromText } from "../json-text.ts";
import { settleTrigger } from "../runs/trigger.ts";
import type { Observation, Rollout } from "./driver.ts";

// Enough to keep the disk busy, and few enough to let requests in between.
const AT_ONCE = 100;

/**
 * Asks the driver what has become of every rollout whose time has come, and keeps it. Answers when to come again, in
 * epoch milliseconds; null when nothing is under way.
 */
export async function advanceRollouts(context: Context): Promise<number | null> {
  const { store, now, rollouts } = context;
  const due = await store.read
    .selectFrom("deployments")
    .select(["id", "json"])
    .where("look_at", "<=", now())
    .orderBy("look_at")
    .limit(AT_ONCE)
    .execute();
  await Promise.all(
    due.map(async ({ id, json }) => {
      const seen = { ...fromText(json), id };
      const observation = await rollouts.observe(rolloutOf(seen), now());
      await store.write((transaction) => keep(transaction, context, seen, observation));
    }),
  );
  const { next } = await store.read
    .selectFrom("deployments")
    .select(({ fn }) => fn.min("look_at").as("next"))
    .executeTakeFirstOrThrow();
  return next === null ? null : Number(next);
}

/** A deployment as the driver sees it. */
export function rolloutOf({ id, fqn, manifest, currentStatus, createdAt }: Deployed): Rollout {
  return { deploymentId: id, fqn, manifest, status: currentStatus?.status ?? "", startedAt: Date.parse(createdAt) };
}

async function keep(
  transaction: Transaction<Tables>,
  context: Context,
  seen: Deployed,
  { progress, lookAt }: Observation,
): Promise<void> {
  const { is_over: isOver } = await transaction
    .selectFrom("deployments")
    .select("is_over")
    .where("id", "=", seen.id)
    .executeTakeFirstOrThrow();
  // Someone cancelled it since it was looked at.
  if (isOver === 1) return;
  const { now, newId } = context;
  const moment = new Date(now()).toISOString();
  const deployment = progress.length === 0 ? seen : withProgress(seen, progress, moment, newId);
  await saveDeployment(transaction, deployment, lookAt);
  await settleTrigger(transaction, deployment, context);
  const application = seen.applicationId === null ? null : await findApplicationById(transaction, seen.applicationId);
  if (application === null) return;
  const changed = withOutcome(application, deployment, newId);
  if (changed !== application) await saveApplication(transaction, changed);
}
