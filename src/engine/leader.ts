import { setTimeout as wait } from "node:timers/promises";
import type { Writer } from "../client/writer.ts";
import { acquireLease, type HeldLease, standByMs } from "./lease.ts";
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
};

/** A leader that has no lease yet. */
export function createLeader(): Leader {
  let lease: HeldLease | null = null;
  let isWarned = false;
  const leave = async (): Promise<void> => {
    await lease?.[Symbol.asyncDispose]();
    lease = null;
  };
  return {
    isLost: () => lease?.isLost() ?? false,
    hasLease: () => lease !== null,
    [Symbol.asyncDispose]: leave,
    writer: async (connection, read, { tell, stopping, signal }) => {
      const { session } = connection;
      const options = await leaseOptions(connection, read, signal);
      if (!session.memory.has("putLease")) return session.writer;
      if (lease !== null && !lease.isLost() && lease.scope === options.scope) return lease.writer;
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
          if (standingBy) tell({ what: "taking-over" });
          return standingBy ? null : lease.writer;
        }
        if (!standingBy) tell({ what: "standing-by", message: taken.message });
        standingBy = true;
        await wait(standByMs(options), undefined, { signal: stopping });
      }
    },
  };
}
