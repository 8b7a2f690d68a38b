import PQueue from "p-queue";
import type { Writer } from "../../client/writer.ts";
import type { Clock } from "../../clock/clock.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { NumberedLease } from "../../core/server-facts.ts";
import type { Intent } from "../../state/ledger.ts";
import type { State, StateLock } from "../../state/state.ts";
import type { DesiredRead } from "../load.ts";
import type { Run } from "../run.ts";
import type { ServerSession } from "../session.ts";
import type { LockState, TargetConnection } from "../target.ts";
import { acquireLease, type HeldLease, type LeaseResult, standByMs } from "./lease.ts";
import { leaseOptions, noLease, TENANT_SCOPE } from "./lease-options.ts";

/** Leader election over many passes: one of several daemons writes, and the others stand by. */
export type Election = AsyncDisposable & {
  /** The leader of one target. `onStandby` is called when it begins to wait for another process, and when it takes over from it. */
  readonly leader: (onStandby: (isStandingBy: boolean) => void) => Leader;
};

/** What a target has of an election. */
export type Leader = {
  /** The writer for this pass; null where another process may have written since the source was read. */
  readonly writer: (connection: TargetConnection, read: DesiredRead, run: Run) => Promise<Writer | null>;
  /** Whether another process may have applied newer commits since this one has applied the newest. */
  readonly mayBeBehind: () => boolean;
  /** Records that this process has applied the newest commit. */
  readonly caughtUp: (session: ServerSession) => void;
  /** Whether another process has taken over. */
  readonly isLost: () => boolean;
  /** Whether a lease excludes other writers. */
  readonly hasLease: () => boolean;
  /** Whether a request that an earlier process left open is rejected if it arrives now. */
  readonly isFenced: (intent: Intent) => boolean;
  /** Opens connections one after the other; waits for the state's lock while another process holds it. */
  readonly connect: (open: (lock: LockState) => Promise<TargetConnection>, run: Run) => Promise<TargetConnection>;
  /** The message about the process that this one stands by for; null when it does not stand by. */
  readonly standsBy: () => string | null;
};

type Standby = Run & { readonly onStandby: (isStandingBy: boolean) => void };

// The kernel frees a lock when its process ends.
const LOCK_MS = 500;

/**
 * Creates an election without a lease. Where several targets of one control plane share it, its single lease covers the whole
 * tenant, since separate leases could exclude each other.
 */
export function createElection({
  isShared = false,
  clock,
}: {
  readonly isShared?: boolean;
  readonly clock: Clock;
}): Election {
  let lease: HeldLease | null = null;
  const oneAtATime = new PQueue({ concurrency: 1 });
  let isWarned = false;
  let waitsFor: string | null = null;
  let isFirst = true;
  let taking: Taking | null = null;
  // Whether the lease has a fencing token that no earlier process has had.
  let isNewFencingToken = false;
  const checkedLedgers = new WeakSet<ServerSession["ledger"]>();
  const fenced = new Set<string>();
  const release = async (): Promise<void> => {
    await lease?.[Symbol.asyncDispose]();
    lease = null;
  };
  const standBy = async <Taken extends { readonly state: "held" | "none" }>(
    acquire: () => Promise<Taken | Busy>,
    everyMs: number,
    { emit, stopping, onStandby }: Standby,
  ): Promise<{ readonly taken: Taken; readonly hasWaited: boolean }> => {
    try {
      for (;;) {
        const result = await acquire();
        const hasWaited = waitsFor !== null;
        if (result.state !== "busy") {
          if (hasWaited) {
            emit({ what: "taking-over" });
            onStandby(false);
          }
          return { taken: result, hasWaited };
        }
        waitsFor = result.message;
        if (!hasWaited) {
          emit({ what: "standing-by", message: result.message });
          onStandby(true);
        }
        await clock.sleep(everyMs, { signal: stopping });
      }
    } finally {
      waitsFor = null;
    }
  };
  const acquireWriter = async (connection: TargetConnection, read: DesiredRead, run: Standby): Promise<Writer> => {
    const { session } = connection;
    const own = await leaseOptions(connection, read, run);
    const options = isShared && read.rules.leaseScope === null ? { ...own, scope: TENANT_SCOPE } : own;
    if (!session.capabilities.has("putLease")) return session.writer;
    // Each target has its own ledger, which may hold writes that an earlier process left open.
    const pending = checkedLedgers.has(session.ledger) ? [] : await session.ledger.pending();
    checkedLedgers.add(session.ledger);
    const fence = (): void => {
      for (const { id } of isNewFencingToken ? pending : []) fenced.add(id);
    };
    if (lease !== null && !lease.isLost() && lease.scope === options.scope) {
      fence();
      return lease.fenced(session.writer);
    }
    await release();
    const needsNewFencingToken = isFirst && (isShared || pending.length > 0);
    const emitting = { ...options, onLost: (message: string) => run.emit({ what: "lease-lost", message }) };
    // The number that shows whether another holder has had the lease since the one before.
    let first: NumberedLease | null = null;
    const acquire = async (): Promise<LeaseResult> => {
      const early = await acquireLease(emitting);
      if (early.state !== "held") return early;
      first = numberOf(early.lease);
      if (!needsNewFencingToken) return early;
      // Requests of a killed process carry the fencing token of its lease; after a release the lease gets a new one.
      await early.lease[Symbol.asyncDispose]();
      const again = await acquireLease(emitting);
      isNewFencingToken = again.state === "held" && again.lease.fencingToken() > early.lease.fencingToken();
      return again;
    };
    const { taken, hasWaited } = await standBy(acquire, standByMs(options), run);
    isFirst = false;
    fence();
    taking = { lease: first, isAfterOthers: hasWaited };
    if (taken.state === "held") {
      lease = taken.lease;
      run.emit({ what: "lease-taken" });
      return lease.writer;
    }
    if (!isWarned) run.emit(noLease(session, options, taken.why));
    isWarned = true;
    return session.writer;
  };
  const leader: Election["leader"] = (onStandby) => {
    let isBehind = false;
    let seen: Taking | null = null;
    return {
      mayBeBehind: () => isBehind,
      caughtUp: ({ capabilities }) => {
        isBehind = false;
        if (lease !== null && !lease.isLost()) capabilities.lease = numberOf(lease);
      },
      isLost: () => lease?.isLost() ?? false,
      hasLease: () => lease !== null,
      isFenced: ({ id }) => fenced.has(id),
      standsBy: () => waitsFor,
      // In the order of the configuration, so that two processes cannot deadlock on each other's locks.
      connect: (open, run) => {
        const lock: LockState = async (state) =>
          (await standBy(() => tryLock(state), LOCK_MS, { ...run, onStandby })).taken.lock;
        return oneAtATime.add(() => open(lock));
      },
      // Targets that share the election acquire one at a time; a takeover by one counts for all of them.
      writer: (connection, read, run) =>
        oneAtATime.add(async () => {
          const writer = await acquireWriter(connection, read, { ...run, onStandby });
          if (taking === null || taking === seen) return writer;
          seen = taking;
          if (isFollowing(taking, connection.session)) return writer;
          isBehind = true;
          return null;
        }),
    };
  };
  return { leader, [Symbol.asyncDispose]: release };
}

/** How this process came to write. */
type Taking = {
  /** Null where the control plane has no leases. */
  readonly lease: NumberedLease | null;
  /** Whether it has waited for another process. */
  readonly isAfterOthers: boolean;
};

// Whether no other process can have written since this one last did.
function isFollowing({ lease, isAfterOthers }: Taking, { capabilities }: ServerSession): boolean {
  return !isAfterOthers && (lease === null || capabilities.followsOurLease(lease));
}

function numberOf(lease: HeldLease): NumberedLease {
  return { scope: lease.scope, number: lease.fencingToken() };
}

type Busy = Extract<LeaseResult, { readonly state: "busy" }>;

async function tryLock(state: State): Promise<{ readonly state: "held"; readonly lock: StateLock } | Busy> {
  try {
    return { state: "held", lock: await state.lock() };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "locked") throw error;
    return { state: "busy", message: error.message };
  }
}
