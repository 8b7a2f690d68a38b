import type { Sent } from "../../client/writer.ts";
import { HoldfastError } from "../../core/errors.ts";
import { FORMAT_VERSION } from "../../core/format-version.ts";
import type { UnlockedEvent } from "../../core/report/events.ts";
import type { UnlockReport } from "../../core/report/report.ts";
import { isHolderAlive } from "../../state/open-state.ts";
import { type LeaseHolder, leaseHolderIn, RENEWAL_MS, watchBusyLease } from "../lease/busy-lease.ts";
import { acquireLease, type LeaseOptions } from "../lease/lease.ts";
import { leaseOptions } from "../lease/lease-options.ts";
import type { Pass } from "../pass.ts";

/** A pass that breaks the leases of dead holders that block this source. */
export type UnlockMode = {
  readonly is: "unlock";
  /** Called with the holder before a lease is broken. */
  readonly confirm: (holder: LeaseHolder) => Promise<boolean>;
};

/** Releases the lease of a dead writer at the control plane. The kernel already released the lock of its state folder. */
export async function unlockPass(
  { connection, read, run }: Pass,
  { confirm }: UnlockMode,
): Promise<UnlockedEvent | { readonly what: "declined" }> {
  const { server } = connection.session;
  const options = await leaseOptions(connection, read, run);
  const broken: LeaseHolder[] = [];
  for (;;) {
    const result = await acquireLease(options);
    if (result.state === "held") await result.lease[Symbol.asyncDispose]();
    if (result.state !== "busy") {
      const scope = result.state === "held" ? options.scope : null;
      return { what: "unlocked", report: reportOf(server, { leftBy: connection.lock?.leftBy ?? null, scope, broken }) };
    }
    const holder = leaseHolderIn(result.message, options.scope);
    // A lease is broken only if its holder is known.
    if (holder === null) throw locked(result.message);
    if (await isAlive(holder, result.message)) throw locked(result.message);
    if (!(await confirm(holder))) return { what: "declined" };
    await breakLease(options, holder);
    broken.push(holder);
  }

  async function isAlive({ holder }: LeaseHolder, message: string): Promise<boolean> {
    const known = isHolderAlive(holder);
    if (known !== null) return known;
    run.emit({ what: "waiting", text: `${message}; checking for ${RENEWAL_MS / 1000} s whether it is renewed` });
    return (await watchBusyLease(options, message, run)) === "renewed";
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
      hint: isRefused ? "an administrator of the scope may break it; otherwise wait until it expires" : "run it again",
    },
  );
}

function locked(message: string): HoldfastError {
  return new HoldfastError("locked", message, {
    hint: "the holder is alive, or cannot be identified from here: stop it; unlock breaks only the leases of dead holders",
  });
}

function reportOf(
  server: string,
  { leftBy, scope, broken }: Pick<UnlockReport, "leftBy" | "scope" | "broken">,
): UnlockReport {
  return { format_version: FORMAT_VERSION, server, leftBy, scope, broken, diagnostics: [] };
}
