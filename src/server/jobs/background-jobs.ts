// src/server/jobs: what the control plane does by itself, on one of its servers. See docs/control-plane.md#several-servers.

import { SealKeyError } from "../../seal/seal-key.ts";
import { StoreError } from "../../store/store-error.ts";
import { finishAudit, flushAudit } from "../audit/flush.ts";
import type { Context } from "../context.ts";
import { storageHttpError } from "../http/storage-http-error.ts";
import type { BackgroundJob, ResourceDefinition } from "../resource.ts";
import type { ServerKeys } from "../secrets/server-keys.ts";
import { RecurringTask } from "./recurring-task.ts";
import { type Retention, retentionJob } from "./retention.ts";

const HOUR = 3_600_000;

/** How keys are reloaded; `keyCheckSeconds` is null when they cannot change. */
export type KeyCheck = { readonly serverKeys: ServerKeys; readonly keyCheckSeconds: number | null };

/** Starts all background jobs. */
export function startBackgroundJobs(
  context: Context,
  resources: readonly ResourceDefinition[],
  { kept, ...keyCheck }: KeyCheck & { readonly kept: Retention },
): AsyncDisposable & { readonly scheduleAdvance: (moment: number) => void } {
  const { clock, log } = context;
  const advance = taskOf({ name: "rollouts and runs", run: () => advanceAll(resources, context) }, context);
  const jobs: readonly BackgroundJob[] = [
    ...resources.flatMap(({ jobs: own = [] }) => own),
    { name: "the audit log", run: flushAudit, finish: finishAudit },
    { name: "cleanup", run: () => cleanUp(resources, context) },
    retentionJob(kept),
    { name: "refreshing the keys", run: () => refreshKeys(keyCheck, context) },
  ];
  const tasks = jobs.map((job) => taskOf(job, context));
  for (const task of tasks) task.at(clock.now());
  return {
    scheduleAdvance: (moment) => advance.at(moment),
    [Symbol.asyncDispose]: async () => {
      await Promise.all([advance, ...tasks].map((task) => task.close()));
      for (const { name, finish } of jobs) {
        await finish?.(context).catch((error: unknown) =>
          log.error({ event: "job-failed", job: name, err: error }, `${name} failed at the end`),
        );
      }
    },
  };
}

/** A task that logs when its work starts to fail and when it works again, not every failure. */
function taskOf({ name, run }: BackgroundJob, context: Context): RecurringTask {
  const { clock, log } = context;
  let isFailing = false;
  const work = async () => {
    const next = await run(context);
    if (isFailing) log.info({ event: "job-recovered", job: name }, `${name} works again`);
    isFailing = false;
    return next;
  };
  return new RecurringTask(work, clock, (error) => {
    // That the storage fails is logged once, for everything that needs it.
    const isOfStorage = storageHttpError(error) !== null;
    const fields = { event: "job-failed", job: name, ...causeFields(error) };
    log[isFailing || isOfStorage ? "debug" : "error"](fields, `${name} failed`);
    isFailing ||= !isOfStorage;
  });
}

// An expected condition has no stack trace.
function causeFields(error: unknown): { readonly reason: string } | { readonly err: unknown } {
  return error instanceof SealKeyError || error instanceof StoreError ? { reason: error.message } : { err: error };
}

async function advanceAll(resources: readonly ResourceDefinition[], context: Context): Promise<number | null> {
  let next: number | null = null;
  for (const { advance } of resources) {
    const moment = (await advance?.(context)) ?? null;
    if (moment !== null) next = Math.min(next ?? moment, moment);
  }
  return next;
}

async function cleanUp(resources: readonly ResourceDefinition[], context: Context): Promise<number> {
  await context.store.write(async (transaction) => {
    for (const { forget } of resources) await forget?.(transaction, context);
  });
  await context.signingKeys.renew("old");
  return context.clock.now() + HOUR;
}

async function refreshKeys({ serverKeys, keyCheckSeconds }: KeyCheck, { clock }: Context): Promise<number | null> {
  await serverKeys.refresh();
  return keyCheckSeconds === null ? null : clock.now() + keyCheckSeconds * 1000;
}
