import { setTimeout as wait } from "node:timers/promises";
import PQueue from "p-queue";
import type { Writer } from "../client/writer.ts";
import { acquireLease, type HeldLease, standByMs } from "./lease.ts";
import { EVERYTHING } from "./lease-scope.ts";
import type { DesiredRead } from "./read-desired.ts";
import type { TargetConnection } from "./target.ts";
import { type LeaseContext, leaseOptions, noLease } from "./write-access.ts";

/** Leader election over many passes: of several daemons one writes, the others stand by. */
export type Leader = AsyncDisposable & {
  /** What to write with in this pass; null when it was waited for, and everything may have changed. */
  readonly writer: (connection: TargetConnection, read: DesiredRead, context: LeaseContext) => Promise<Writer | null>;
  /** Whether another one has taken over. */
  readonly isLost: () => boolean;
  /** Whether a lease excludes other writers. */
  readonly hasLease: () => boolean;
  /** Whether another one holds the lease, and its end is waited for. */
  readonly standsBy: () => boolean;
};

/**
 * A leader that has no lease yet. Where targets of one control plane share it, its one lease is on everything, since theirs
 * could exclude each other.
 */
export function createLeader({ isShared = false }: { readonly isShared?: boolean } = {}): Leader {
  let lease: HeldLease | null = null;
  const oneAtATime = new PQueue({ concurrency: 1 });
  let isWarned = false;
  let takeovers = 0;
  let waits = false;
  const leave = async (): Promise<void> => {
    await lease?.[Symbol.asyncDispose]();
    lease = null;
  };
  const take: Leader["writer"] = async (connection, read, { tell, stopping, signal }) => {
    const { session } = connection;
    const own = await leaseOptions(connection, read, signal);
    const options = isShared && read.rules.leaseScope === null ? { ...own, scope: EVERYTHING } : own;
    if (!session.memory.has("putLease")) return session.writer;
    if (lease !== null && !lease.isLost() && lease.scope === options.scope) return lease.fenced(session.writer);
    await leave();
    let standingBy = false;
    for (;;) {
      const taken = await acquireLease(options);
      if (taken.state === "none") {
        if (!isWarned) tell(noLease(session, options, taken.why));
        isWarned = true;
        return session.writer;
      }
      if (taken.state === "held") {
        lease = taken.lease;
        if (!standingBy) return lease.writer;
        takeovers += 1;
        tell({ what: "taking-over" });
        return null;
      }
      if (!standingBy) tell({ what: "standing-by", message: taken.message });
      standingBy = true;
      waits = true;
      await wait(standByMs(options), undefined, { signal: stopping }).finally(() => {
        waits = false;
      });
    }
  };
  return {
    isLost: () => lease?.isLost() ?? false,
    hasLease: () => lease !== null,
    standsBy: () => waits,
    [Symbol.asyncDispose]: leave,
    writer: (connection, read, context) => {
      const since = takeovers;
      // Of targets that share it one asks at a time; what another one has waited for was waited for by all.
      return oneAtATime.add(() => (takeovers === since ? take(connection, read, context) : Promise.resolve(null)));
    },
  };
}
