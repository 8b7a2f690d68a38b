import type { OperationName } from "../../contract/operations.ts";
import type { Intent } from "../../state/ledger.ts";
import type { Pass } from "../pass.ts";
import type { ServerSession } from "../session.ts";
import type { Leader } from "./leader.ts";
import { waitForLease } from "./lease.ts";
import { leaseOptions, noLease } from "./lease-options.ts";

/** How one pass gets the right to write: a lease for this run, or that of a daemon's leader. */
export type WriteAccess = AsyncDisposable & {
  /** The session to recover and plan with; null where another process was waited for, so that everything may have changed. */
  readonly begin: () => Promise<ServerSession | null>;
  /** Whether another process may have applied newer commits than this one has. */
  readonly mayBeBehind: () => boolean;
  /** Records that the newest commit was applied. */
  readonly caughtUp: () => void;
  /** Whether a request that an earlier process left open is rejected if it arrives now. */
  readonly isFenced: (intent: Intent) => boolean;
  /** Takes the right to carry out a plan; waits while it may become free soon, otherwise fails as locked. */
  readonly take: (hasWrites: boolean) => Promise<WriteRight>;
  /** The operations of a lease that the control plane lacks, where this pass reports them. */
  readonly lacks: () => readonly OperationName[];
};

/** The right to write in one pass. */
export type WriteRight = {
  /** Uses the right: from then on, this run is the last holder that the ledger knows. */
  readonly use: () => ServerSession;
  /** Whether live must be read again, because other writers may have written since. */
  readonly mustPlanAgain: boolean;
  /** Whether a lease excludes other writers. */
  readonly hasLease: boolean;
  /** Whether it is known that none does. */
  readonly mayHaveOthers: boolean;
};

/** The write access of a pass whose daemon is the leader, and holds its lease over many passes. */
export function accessOfLeader(leader: Leader, { connection, read, run }: Pass): WriteAccess {
  let { session } = connection;
  return {
    begin: async () => {
      const writer = await leader.writer(connection, read, run);
      if (writer === null) return null;
      session = { ...connection.session, writer };
      return session;
    },
    mayBeBehind: leader.mayBeBehind,
    caughtUp: () => leader.caughtUp(session),
    isFenced: leader.isFenced,
    take: async () => {
      const hasLease = leader.hasLease();
      return { use: () => session, mustPlanAgain: false, hasLease, mayHaveOthers: !hasLease };
    },
    // A daemon has already reported it at its start.
    lacks: () => [],
    [Symbol.asyncDispose]: async () => {},
  };
}

/** The write access of a run that takes a lease once it has something to write. */
export function accessOfRun(pass: Pass): WriteAccess {
  const { session } = pass.connection;
  const { capabilities } = session;
  const taken = new AsyncDisposableStack();
  return {
    begin: async () => session,
    mayBeBehind: () => false,
    caughtUp: () => {},
    isFenced: () => false,
    take: async (hasWrites) => {
      if (hasWrites) return takeLease(pass, taken);
      // An earlier write may have shown whether the server has leases; where that is not known, this run has no need of one.
      const leases = capabilities.support("putLease");
      return { use: () => session, mustPlanAgain: false, hasLease: leases === "yes", mayHaveOthers: leases === "no" };
    },
    lacks: () => capabilities.missing(["putLease"]),
    [Symbol.asyncDispose]: () => taken.disposeAsync(),
  };
}

async function takeLease({ connection, read, run }: Pass, held: AsyncDisposableStack): Promise<WriteRight> {
  const { emit, stopping } = run;
  const { session } = connection;
  const { capabilities } = session;
  const options = await leaseOptions(connection, read, run);
  const onWait = (text: string): void => emit({ what: "waiting", text });
  const taken = await waitForLease(options, { onWait, stopping });
  if (taken.state !== "held") {
    if (taken.state === "none") emit(noLease(session, options, taken.why));
    return { use: () => session, mustPlanAgain: taken.waited, hasLease: false, mayHaveOthers: true };
  }
  const { lease } = taken;
  const numbered = () => ({ scope: lease.scope, number: lease.fencingToken() });
  const isOurs = capabilities.followsOurLease(numbered());
  let isUsed = false;
  held.defer(async () => {
    if (isUsed && !lease.isLost()) capabilities.lease = numbered();
    await lease[Symbol.asyncDispose]();
  });
  return {
    use: () => {
      isUsed = true;
      return { ...session, writer: lease.writer };
    },
    mustPlanAgain: taken.waited || !isOurs,
    hasLease: true,
    mayHaveOthers: false,
  };
}
