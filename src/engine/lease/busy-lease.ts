import { acquireLease, type LeaseOptions } from "./lease.ts";

/** The holder of a conflicting lease, and its expiry time. */
export type LeaseHolder = { readonly scope: string; readonly holder: string; readonly until: string };

/** Longer than a live holder takes to renew its lease, even with a slow request. */
export const RENEWAL_MS = 21_000;

/** Parses the holder of a lease from the control plane's refusal; null where the refusal does not name it. */
export function leaseHolderIn(message: string, scope: string): LeaseHolder | null {
  const [, holder, other, until] =
    /^(.+) has (?:this lease|the lease on (\S+), which overlaps with \S+,) until (\S+)$/.exec(message) ?? [];
  if (holder === undefined || until === undefined) return null;
  return { holder, scope: other ?? scope, until };
}

/** Watches a held lease until it is renewed or becomes free; `silent` when neither happens within `forMs`. */
export async function watchBusyLease(
  options: LeaseOptions,
  message: string,
  {
    forMs = RENEWAL_MS,
    everyMs = 1000,
    stopping,
  }: { readonly forMs?: number; readonly everyMs?: number; readonly stopping: AbortSignal },
): Promise<"renewed" | "silent" | "free"> {
  const { clock } = options;
  const end = clock.monotonic() + forMs;
  while (clock.monotonic() < end) {
    await clock.sleep(everyMs, { signal: stopping });
    const result = await acquireLease(options);
    if (result.state === "held") await result.lease[Symbol.asyncDispose]();
    if (result.state !== "busy") return "free";
    if (result.message !== message) return "renewed";
  }
  return "silent";
}
