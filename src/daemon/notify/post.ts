import { setTimeout as wait } from "node:timers/promises";
import { isSentInClear } from "../../http/loopback.ts";

/** How messages are delivered. */
export type Delivery = {
  readonly now: () => number;
  /** Told what could not be delivered, and why. */
  readonly onTrouble: (text: string) => void;
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number;
  /** Milliseconds before each further attempt. */
  readonly backoffMs: readonly number[];
};

/** A POST request to a system of the operator's. */
export type PostRequest = {
  readonly address: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
  readonly hasToken: boolean;
};

/**
 * Sends a request until it is taken, refused, or tried often enough; answers why it was not delivered, or null. The
 * address may be a secret: nothing that quotes it is answered.
 */
export async function postWithRetry(
  request: () => PostRequest,
  { timeoutMs, backoffMs }: Delivery,
  signal: AbortSignal,
): Promise<string | null> {
  let why: string | null = null;
  for (const pause of [0, ...backoffMs]) {
    if (signal.aborted || (pause > 0 && !(await waited(pause, signal)))) return why;
    const attempt = await post(request, timeoutMs, signal);
    if (attempt.is === "delivered") return null;
    why = attempt.why;
    if (attempt.is === "refused") return why;
  }
  return why;
}

async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  return wait(ms, true, { signal }).catch(() => false);
}

type Attempt = { readonly is: "delivered" } | { readonly is: "refused" | "failed"; readonly why: string };

async function post(request: () => PostRequest, timeoutMs: number, signal: AbortSignal): Promise<Attempt> {
  const made = requestOrNull(request);
  if (made === null) return { is: "failed", why: "the file with its address or its token cannot be read" };
  const { address, headers, body, hasToken } = made;
  if (hasToken && isSentInClear(address))
    return { is: "refused", why: "a token is sent over https alone, or to this machine" };
  try {
    const answer = await fetch(address, {
      method: "POST",
      headers,
      body,
      // A redirect could lead anywhere, with what is told.
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await answer.body?.cancel();
    return attemptOf(answer.status);
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
