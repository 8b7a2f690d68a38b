import { setTimeout as wait } from "node:timers/promises";
import { acquireLease, type LeaseOptions } from "./lease.ts";

/** Who has a lease that stands in the way, and until when. */
export type LeaseHolder = { readonly scope: string; readonly holder: string; readonly until: string };

/** Longer than a holder that lives takes to renew its lease, with a request that takes its time. */
export const RENEWAL_MS = 21_000;

/** Reads who has a lease from the control plane's refusal of it; null where it does not say. */
export function leaseHolderIn(message: string, scope: string): LeaseHolder | null {
  const [, holder, other, until] =
    /^(.+) has (?:this lease|the lease on (\S+), which overlaps with \S+,) until (\S+)$/.exec(message) ?? [];
  if (holder === undefined || until === undefined) return null;
  return { holder, scope: other ?? scope, until };
}

/** Watches a lease that is taken: whether it is renewed, is silent for that long, or becomes free meanwhile. */
export async function watchBusyLease(
  options: LeaseOptions,
  message: string,
  { forMs = RENEWAL_MS, everyMs = 1000, stopping }: WatchOptions,
): Promise<"renewed" | "silent" | "free"> {
  const { clock = () => performance.now() } = options;
  const end = clock() + forMs;
  while (clock() < end) {
    await wait(everyMs, undefined, { signal: stopping });
    const asked = await acquireLease(options);
    if (asked.state === "held") await asked.lease[Symbol.asyncDispose]();
    if (asked.state !== "busy") return "free";
    if (asked.message !== message) return "renewed";
  }
  return "silent";
}

type WatchOptions = {
  readonly forMs?: number;
  readonly everyMs?: number;
  readonly stopping: AbortSignal;
};
