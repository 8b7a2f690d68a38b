import { setTimeout as wait } from "node:timers/promises";
import PQueue from "p-queue";
import type { Writer } from "../../client/writer.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { Intent } from "../../state/ledger.ts";
import type { State, StateLock } from "../../state/state.ts";
import type { DesiredRead } from "../desired/read-desired.ts";
import type { ServerSession } from "../session.ts";
import type { LockState, TargetConnection } from "../target.ts";
import { type LeaseContext, leaseOptions, noLease } from "./acquire-write-access.ts";
import { acquireLease, type HeldLease, type LeaseResult, standByMs } from "./lease.ts";
import { TENANT_SCOPE } from "./lease-scope.ts";

/** Leader election over many passes: of several daemons one writes, the others stand by. */
export type Leader = AsyncDisposable & {
  /** What to write with in this pass; null when it was waited for, and everything may have changed. */
  readonly writer: (connection: TargetConnection, read: DesiredRead, context: LeaseContext) => Promise<Writer | null>;
  /** Whether another one has taken over. */
  readonly isLost: () => boolean;
  /** Whether a lease excludes other writers. */
  readonly hasLease: () => boolean;
  /** Whether a write that an earlier process left open is rejected where it arrives now. */
  readonly isFenced: (intent: Pick<Intent, "id">) => boolean;
  /** Opens a connection in its turn, with a lock that is waited for while another process has it. */
  readonly connect: (
    open: (lock: LockState) => Promise<TargetConnection>,
    context: StandbyContext,
  ) => Promise<TargetConnection>;
  /** What is said of the process that is waited for; null where none is. */
  readonly standsBy: () => string | null;
};

type StandbyContext = Omit<LeaseContext, "signal">;

// The kernel frees a lock when its process ends.
const LOCK_MS = 500;

/**
 * A leader that has no lease yet. Where targets of one control plane share it, its one lease is on everything, since theirs
 * could exclude each other.
 */
export function createLeader({ isShared = false }: { readonly isShared?: boolean } = {}): Leader {
  let lease: HeldLease | null = null;
  const oneAtATime = new PQueue({ concurrency: 1 });
  let isWarned = false;
  let takeovers = 0;
  let waitsFor: string | null = null;
  let isFirst = true;
  // Whether no earlier process has had the number of this one's lease.
  let isNewNumber = false;
  const checkedLedgers = new WeakSet<ServerSession["ledger"]>();
  const fenced = new Set<string>();
  const leave = async (): Promise<void> => {
    await lease?.[Symbol.asyncDispose]();
    lease = null;
  };
  const standBy = async <Taken extends { readonly state: "held" | "none" }>(
    ask: () => Promise<Taken | Busy>,
    everyMs: number,
    { emit, stopping }: StandbyContext,
  ): Promise<{ readonly taken: Taken; readonly hasWaited: boolean }> => {
    try {
      for (;;) {
        const asked = await ask();
        const hasWaited = waitsFor !== null;
        if (asked.state !== "busy") {
          if (hasWaited) emit({ what: "taking-over" });
          return { taken: asked, hasWaited };
        }
        if (!hasWaited) emit({ what: "standing-by", message: asked.message });
        waitsFor = asked.message;
        await wait(everyMs, undefined, { signal: stopping });
      }
    } finally {
      waitsFor = null;
    }
  };
  const take: Leader["writer"] = async (connection, read, context) => {
    const { session } = connection;
    const own = await leaseOptions(connection, read, context.signal);
    const options = isShared && read.rules.leaseScope === null ? { ...own, scope: TENANT_SCOPE } : own;
    if (!session.serverFacts.has("putLease")) return session.writer;
    // Each target has a ledger of its own, with writes that an earlier process has left open.
    const pending = checkedLedgers.has(session.ledger) ? [] : await session.ledger.pending();
    checkedLedgers.add(session.ledger);
    const fence = (): void => {
      for (const { id } of isNewNumber ? pending : []) fenced.add(id);
    };
    if (lease !== null && !lease.isLost() && lease.scope === options.scope) {
      fence();
      return lease.fenced(session.writer);
    }
    await leave();
    const needsNewNumber = isFirst && (isShared || pending.length > 0);
    const ask = async (): Promise<LeaseResult> => {
      const early = await acquireLease(options);
      if (early.state !== "held" || !needsNewNumber) return early;
      // What a killed process has sent carries the number of its lease; once released, the lease gets another.
      await early.lease[Symbol.asyncDispose]();
      const again = await acquireLease(options);
      isNewNumber = again.state === "held" && again.lease.number() > early.lease.number();
      return again;
    };
    const { taken, hasWaited } = await standBy(ask, standByMs(options), context);
    isFirst = false;
    fence();
    if (taken.state === "held") lease = taken.lease;
    if (hasWaited) {
      takeovers += 1;
      return null;
    }
    if (taken.state === "held") return taken.lease.writer;
    if (!isWarned) context.emit(noLease(session, options, taken.why));
    isWarned = true;
    return session.writer;
  };
  return {
    isLost: () => lease?.isLost() ?? false,
    hasLease: () => lease !== null,
    isFenced: ({ id }) => fenced.has(id),
    standsBy: () => waitsFor,
    // One after the other, in the order of the configuration: of two processes neither has what the other one waits for.
    connect: (open, context) =>
      oneAtATime.add(() =>
        open(async (state) => (await standBy(() => askForLock(state), LOCK_MS, context)).taken.lock),
      ),
    [Symbol.asyncDispose]: leave,
    writer: (connection, read, context) => {
      const since = takeovers;
      // Of targets that share it one asks at a time; what another one has waited for was waited for by all.
      return oneAtATime.add(() => (takeovers === since ? take(connection, read, context) : Promise.resolve(null)));
    },
  };
}

type Busy = Extract<LeaseResult, { readonly state: "busy" }>;

async function askForLock(state: State): Promise<{ readonly state: "held"; readonly lock: StateLock } | Busy> {
  try {
    return { state: "held", lock: await state.lock() };
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== "locked") throw error;
    return { state: "busy", message: error.message };
  }
}
