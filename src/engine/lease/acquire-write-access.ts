import type { Writer } from "../../client/writer.ts";
import type { Clock } from "../../clock/clock.ts";
import type { PassEvent } from "../../core/report/events.ts";
import { runWarning } from "../../core/run-warning.ts";
import type { DesiredRead } from "../load.ts";
import type { ServerSession } from "../session.ts";
import type { TargetConnection } from "../target.ts";
import { type LeaseOptions, waitForLease } from "./lease.ts";
import { leaseScope } from "./lease-scope.ts";

/** The right to write in one pass. */
export type WriteAccess = AsyncDisposable & {
  /** Uses the right: from then on, this run is the last holder that the ledger knows. */
  readonly use: () => Writer;
  /** Whether live must be read again, because other writers may have written since. */
  readonly mustPlanAgain: boolean;
  /** Whether a lease excludes other writers. */
  readonly hasLease: boolean;
};

/** The callback, clock and signals for acquiring a lease. */
export type LeaseContext = {
  readonly clock: Clock;
  readonly emit: (event: PassEvent) => void;
  readonly stopping: AbortSignal;
  /** Also aborts requests in flight. */
  readonly signal: AbortSignal;
};

/** Waits for the right to write while it may become free soon; otherwise fails as locked. */
export async function acquireWriteAccess(
  connection: TargetConnection,
  read: DesiredRead,
  context: LeaseContext,
): Promise<WriteAccess> {
  const { emit, stopping } = context;
  const { session } = connection;
  const options = await leaseOptions(connection, read, context);
  const onWait = (text: string): void => emit({ what: "waiting", text });
  const taken = await waitForLease(options, { onWait, stopping });
  if (taken.state !== "held") {
    if (taken.state === "none") emit(noLease(session, options, taken.why));
    const { writer } = session;
    return { use: () => writer, mustPlanAgain: taken.waited, hasLease: false, [Symbol.asyncDispose]: async () => {} };
  }
  const { lease } = taken;
  const isOurs = session.serverFacts.followsOurLease({ scope: lease.scope, number: lease.fencingToken() });
  let isUsed = false;
  return {
    use: () => {
      isUsed = true;
      return lease.writer;
    },
    mustPlanAgain: taken.waited || !isOurs,
    hasLease: true,
    [Symbol.asyncDispose]: async () => {
      if (isUsed && !lease.isLost()) session.serverFacts.lease = { scope: lease.scope, number: lease.fencingToken() };
      await lease[Symbol.asyncDispose]();
    },
  };
}

/** The options of a lease on everything that a source writes. */
export async function leaseOptions(
  { session, state }: TargetConnection,
  { rules, manifests }: Pick<DesiredRead, "rules" | "manifests">,
  { clock, signal }: Pick<LeaseContext, "clock" | "signal">,
): Promise<LeaseOptions> {
  return {
    writer: session.writer,
    scope: rules.leaseScope ?? leaseScope(manifests),
    holder: await state.holder(),
    requestTimeoutMs: rules.requestTimeoutMs,
    ...(rules.maxLeaseMs === null ? {} : { maxMs: rules.maxLeaseMs }),
    // A stop request releases the lease; it does not interrupt the release.
    signal,
    clock,
  };
}

/** The warning that writes proceed without a lease. */
export function noLease({ serverFacts }: ServerSession, { scope }: LeaseOptions, why: string): PassEvent {
  const hint = serverFacts.has("putLease") ? "; --lease-scope names what this token may write" : "";
  const detail = `nothing but the state folder keeps two writers apart${hint}`;
  return { what: "warned", warnings: [runWarning("no-lease", `going on without a lease on ${scope}: ${why}`, detail)] };
}
