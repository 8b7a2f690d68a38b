import { type Backoff, backoff } from "../../clock/backoff.ts";
import type { Clock } from "../../clock/clock.ts";
import { isSentInClear } from "../../http/loopback.ts";

/** The settings of delivery. */
export type Delivery = {
  readonly clock: Clock;
  /** Called with a text that says what could not be delivered, and why. */
  readonly onTrouble: (text: string) => void;
  /** Called with the name of the receiver or the target when a delivery has ended. */
  readonly onEnd?: (name: string, result: "delivered" | "failed") => void;
  /** Called with the name of a receiver that loses its oldest notification, since too many wait. */
  readonly onDrop?: (receiver: string) => void;
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number;
  /** How often a delivery is repeated. */
  readonly retries: number;
  readonly backoff: Backoff;
};

/** A POST request to a system that the operator configured. */
export type PostRequest = {
  readonly address: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly hasToken: boolean;
};

/**
 * Sends a request until it is accepted or refused, or the retries are used up; returns why it was not delivered, or null. The
 * address may be a secret, so no returned text quotes it.
 */
export async function postWithRetry(
  request: () => PostRequest,
  { clock, timeoutMs, retries, backoff: limits }: Delivery,
  signal: AbortSignal,
): Promise<string | null> {
  if (signal.aborted) return null;
  for (let nth = 1; ; nth += 1) {
    const attempt = await post(request, clock.timeout(timeoutMs), signal);
    if (attempt.is === "delivered") return null;
    if (attempt.is === "refused" || nth > retries) return attempt.why;
    if (!(await waited(clock, backoff(nth, limits), signal))) return attempt.why;
  }
}

async function waited(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return clock.sleep(ms, { signal }).then(
    () => true,
    () => false,
  );
}

type Attempt = { readonly is: "delivered" } | { readonly is: "refused" | "failed"; readonly why: string };

async function post(request: () => PostRequest, timeout: AbortSignal, signal: AbortSignal): Promise<Attempt> {
  const built = requestOrNull(request);
  if (built === null) return { is: "failed", why: "the file with its address or its token cannot be read" };
  const { address, headers, body, hasToken } = built;
  if (hasToken && isSentInClear(address))
    return { is: "refused", why: "a token is sent over https alone, or to this machine" };
  try {
    const response = await fetch(address, {
      method: "POST",
      headers,
      body,
      // A redirect could send the message to any host.
      redirect: "manual",
      signal: AbortSignal.any([signal, timeout]),
    });
    await response.body?.cancel();
    return attemptOf(response.status);
  } catch {
    return { is: "failed", why: "it cannot be reached, or does not answer" };
  }
}

function requestOrNull(request: () => PostRequest): PostRequest | null {
  try {
    return request();
  } catch {
    return null;
  }
}

function attemptOf(status: number): Attempt {
  if (status >= 200 && status < 300) return { is: "delivered" };
  const why = `it answered ${status}`;
  return { is: status >= 500 || status === 429 || status === 408 ? "failed" : "refused", why };
}
