import { PgBoss } from "pg-boss";
import type { Clock, Stop } from "../clock/clock.ts";
import type { Secret } from "../contract/secret.ts";
import { hasSchema } from "../store/postgres/session.ts";
import { LATER } from "./fleet-interval.ts";
import {
  askForPass,
  endsOfJobs,
  JOBS_SCHEMA,
  jobsConnection,
  jobsError,
  PASSES,
  type PassRequest,
  passRequest,
  type QueuedPass,
} from "./fleet-jobs.ts";

/** What a command asks of a fleet that it is no part of. */
export type FleetRequest = {
  readonly address: Secret;
  readonly targets: readonly string[];
  readonly clock: Clock;
};

/**
 * Asks the processes that share the passes of a database for a pass over each of these targets; resolves when all have
 * ended, or false at once where no process shares passes over them.
 */
export async function passedInFleet(request: FleetRequest, stop: Stop): Promise<boolean> {
  const { address, clock } = request;
  if (!(await hasSchema(address, JOBS_SCHEMA, clock))) return false;
  try {
    return await passedBy(request, stop);
  } catch (error) {
    stop.signal.throwIfAborted();
    throw jobsError(address, error);
  }
}

async function passedBy({ address, targets, clock }: FleetRequest, { signal }: Stop): Promise<boolean> {
  // It neither works on the queue nor looks after it, and a process of another release may have made the tables.
  const apart = { migrate: false, supervise: false, schedule: false, registerInstance: false, max: 1 };
  const boss = new PgBoss({ ...jobsConnection(address), ...apart });
  // The next query fails with the same error.
  boss.on("error", () => undefined);
  try {
    await boss.start();
    const processes = await boss.getInstances();
    if (!processes.some(({ live }) => live)) return false;
    const requests = (await Promise.all(targets.map((target) => requestFor(target, boss)))).flat();
    if (requests.length === 0) return false;
    const asked = requests.map((one) => askForPass(boss, one));
    await Promise.all((await Promise.all(asked)).flat().map(endsOfJobs(boss, clock, { signal })));
    return true;
  } finally {
    await boss.stop({ graceful: false });
  }
}

// The newest pass over the target names its control plane. A process that watches it has asked for one, or will.
async function requestFor(target: string, boss: PgBoss): Promise<readonly PassRequest[]> {
  const passes = await boss.findJobs<QueuedPass>(PASSES, { data: { target } });
  const later = passes.length > 0 ? [] : await boss.findJobs<PassRequest>(LATER, { data: { pass: { target } } });
  const known = passes.at(-1)?.data ?? later.at(-1)?.data.pass;
  if (known === undefined) return [];
  const servers = new Map(known.server === undefined ? [] : [[target, known.server]]);
  return [passRequest({ target, scope: "all", cause: "request" }, servers)];
}
