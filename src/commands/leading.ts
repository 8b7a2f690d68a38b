import { setTimeout as wait } from "node:timers/promises";
import type { Writer } from "../client/writer.ts";
import { type Lease, type LeaseOptions, standByMs, takeLease, takeLeaseInTurn } from "../engine/lease.ts";
import { printable } from "../render/escape.ts";
import type { Invocation } from "./command.ts";
import type { Connected } from "./connection.ts";
import { leaseScope } from "./lease-scope.ts";
import type { Prepared } from "./prepare.ts";
import { sayWait } from "./terminal.ts";

/** The turn of a command that writes once. */
export type Turn = AsyncDisposable & {
  readonly writer: Writer;
  /** Whether others may have written since live was looked at. */
  readonly mustLookAgain: boolean;
  /** Whether a lease keeps other writers apart. */
  readonly hasLease: boolean;
};

/** Waits for the right to write, as long as that may be free soon; else fails as locked. */
export async function takeTurn(invocation: Invocation, connected: Connected, prepared: Prepared): Promise<Turn> {
  const { session } = connected;
  const { terminal } = invocation;
  const { stopping } = terminal;
  const options = await leaseOptions(invocation, connected, prepared);
  const onWait = (message: string): void => sayWait(terminal, message);
  const taken = await takeLeaseInTurn(options, { onWait, stopping });
  if (taken.state !== "held") {
    if (taken.state === "none") warn(invocation, connected, options, taken.why);
    const { writer } = session;
    return { writer, mustLookAgain: taken.waited, hasLease: false, [Symbol.asyncDispose]: async () => {} };
  }
  const { lease } = taken;
  const isOurs = session.memory.followsOurLease({ scope: lease.scope, number: lease.number() });
  return {
    writer: lease.writer,
    mustLookAgain: taken.waited || !isOurs,
    hasLease: true,
    [Symbol.asyncDispose]: async () => {
      if (!lease.isLost()) session.memory.lease = { scope: lease.scope, number: lease.number() };
      await lease[Symbol.asyncDispose]();
    },
  };
}

/** The right to write over many passes: of several that watch, one leads and the others stand by. */
export type Lead = AsyncDisposable & {
  /** What to write with in this pass; null when it was waited for, and all is to be looked at anew. */
  readonly writer: (prepared: Prepared) => Promise<Writer | null>;
  /** Whether another one has taken over. */
  readonly isLost: () => boolean;
  /** Whether a lease keeps other writers apart. */
  readonly hasLease: () => boolean;
};

/** A lead that nobody has yet. */
export function createLead(invocation: Invocation, connected: Connected): Lead {
  const { stderr, stopping: signal } = invocation.terminal;
  let lease: Lease | null = null;
  let isWarned = false;
  const leave = async (): Promise<void> => {
    await lease?.[Symbol.asyncDispose]();
    lease = null;
  };
  return {
    isLost: () => lease?.isLost() ?? false,
    hasLease: () => lease !== null,
    [Symbol.asyncDispose]: leave,
    writer: async (prepared) => {
      const options = await leaseOptions(invocation, connected, prepared);
      if (!connected.session.memory.has("putLease")) return connected.session.writer;
      if (lease !== null && !lease.isLost() && lease.scope === options.scope) return lease.writer;
      await leave();
      let standingBy = false;
      for (;;) {
        const taken = await takeLease(options);
        if (taken.state === "none") {
          if (!isWarned) warn(invocation, connected, options, taken.why);
          isWarned = true;
          return connected.session.writer;
        }
        if (taken.state === "held") {
          lease = taken.lease;
          if (standingBy) stderr.write("taking over\n");
          return standingBy ? null : lease.writer;
        }
        if (!standingBy) stderr.write(`standing by: ${printable(taken.message)}\n`);
        standingBy = true;
        await wait(standByMs(options), undefined, { signal });
      }
    },
  };
}

async function leaseOptions(
  { flags, terminal }: Invocation,
  { session, state }: Connected,
  prepared: Prepared,
): Promise<LeaseOptions> {
  return {
    writer: session.writer,
    scope: flags.leaseScope ?? leaseScope(prepared),
    holder: await state.holder(),
    requestTimeoutMs: prepared.settings.requestTimeoutMs,
    // Being asked to end gives the lease back; it does not cut that short.
    signal: terminal.signal,
  };
}

function warn({ terminal }: Invocation, { session }: Connected, { scope }: LeaseOptions, why: string): void {
  const hint = session.memory.has("putLease") ? "; --lease-scope names what this token may write" : "";
  terminal.stderr.write(
    `warning: going on without a lease on ${printable(scope)}: ${printable(why)}\n` +
      `  → nothing but the state folder keeps two writers apart${hint}\n`,
  );
}
