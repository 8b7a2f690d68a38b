import type { Sent } from "../../client/writer.ts";
import { HoldfastError } from "../../core/errors.ts";
import type { UnlockedEvent } from "../../core/report/events.ts";
import type { UnlockReport } from "../../core/report/report.ts";
import { isHolderAlive } from "../../state/open-state.ts";
import { leaseOptions } from "../lease/acquire-write-access.ts";
import { type LeaseHolder, leaseHolderIn, RENEWAL_MS, watchBusyLease } from "../lease/busy-lease.ts";
import { acquireLease, type LeaseOptions } from "../lease/lease.ts";
import type { Pass } from "../pass.ts";

/** A pass that breaks the leases of dead holders that stand in the way of this source. */
export type UnlockMode = {
  readonly is: "unlock";
  /** Asked before a lease is broken, with whose it is. */
  readonly confirm: (holder: LeaseHolder) => Promise<boolean>;
};

/** Frees what a dead writer has left: its lease at the control plane. The kernel frees the lock of its state folder. */
export async function unlockPass(
  { connection, read, context }: Pass,
  { confirm }: UnlockMode,
): Promise<UnlockedEvent | { readonly what: "declined" }> {
  const { server } = connection.session;
  const options = await leaseOptions(connection, read, context.signal);
  const broken: LeaseHolder[] = [];
  for (;;) {
    const asked = await acquireLease(options);
    if (asked.state === "held") await asked.lease[Symbol.asyncDispose]();
    if (asked.state !== "busy") {
      const scope = asked.state === "held" ? options.scope : null;
      return { what: "unlocked", report: reportOf(server, { leftBy: connection.leftBy, scope, broken }) };
    }
    const holder = leaseHolderIn(asked.message, options.scope);
    // Whose it is must be known before it is broken.
    if (holder === null) throw locked(asked.message);
    if (await lives(holder, asked.message)) throw locked(asked.message);
    if (!(await confirm(holder))) return { what: "declined" };
    await breakLease(options, holder);
    broken.push(holder);
  }

  async function lives({ holder }: LeaseHolder, message: string): Promise<boolean> {
    const known = isHolderAlive(holder);
    if (known !== null) return known;
    context.emit({ what: "waiting", text: `${message}; whether it is renewed shows within ${RENEWAL_MS / 1000} s` });
    return (await watchBusyLease(options, message, context)) === "renewed";
  }
}

async function breakLease(options: LeaseOptions, { scope }: LeaseHolder): Promise<void> {
  const { writer, holder, signal } = options;
  const body = { holder, ttlSeconds: 1, release: true, break: true };
  const sent = await writer.send("putLease", { path: { scope }, body }, { signal });
  if (sent.state !== "applied") throw notBroken(scope, sent);
}

function notBroken(scope: string, sent: Exclude<Sent<"putLease">, { readonly state: "applied" }>): HoldfastError {
  const isRefused = sent.state === "refused";
  const why = isRefused ? sent.message : `the reply is missing (${sent.reason})`;
  return new HoldfastError(
    isRefused && sent.status === 403 ? "unauthorized" : "error",
    `the lease on ${scope} could not be broken: ${why}`,
    {
      hint: isRefused ? "who administers the scope may break it; else wait until it has run out" : "run it again",
    },
  );
}

function locked(message: string): HoldfastError {
  return new HoldfastError("locked", message, {
    hint: "it is alive, or cannot be told from here: stop it; unlock breaks what a dead holder has left",
  });
}

function reportOf(
  server: string,
  { leftBy, scope, broken }: Pick<UnlockReport, "leftBy" | "scope" | "broken">,
): UnlockReport {
  return { format_version: "2.0", server, leftBy, scope, broken, diagnostics: [] };
}
