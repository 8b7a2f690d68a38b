import { Buffer } from "node:buffer";
import type { Dispatcher } from "undici";
import type { Clock } from "../clock/clock.ts";
import type { Connections } from "./dispatcher.ts";
import { MOST_LATE_MS } from "./request-limit.ts";

/** One request, ready to be sent. */
export type Request = {
  readonly origin: string;
  readonly method: "GET" | "PUT" | "POST";
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
};

/** Headers of a reply, names in lower case. */
export type Headers = { readonly [name: string]: string | readonly string[] | undefined };

/** The outcome of one request; only `answered` has the complete reply. */
export type Exchange =
  | { readonly state: "answered"; readonly status: number; readonly headers: Headers; readonly body: Buffer }
  /** No byte of the request was sent. */
  | { readonly state: "not-sent"; readonly reason: "unreachable" | "aborted"; readonly cause: unknown }
  /** The request may have arrived, and may have taken effect. */
  | {
      readonly state: "broken";
      readonly reason: "timeout" | "connection-lost" | "oversize" | "aborted";
      readonly cause: unknown;
      readonly status: number | null;
      /** The part of the body that had arrived. */
      readonly partial: Buffer;
    };

/** The right to send a request, which may end while the request waits for its turn. */
export type SendRight = {
  /** Whether a request that is sent now keeps it to its end. */
  readonly isValid: () => boolean;
  /** Renews it for a request whose turn it is; returns why it cannot be. */
  readonly renew: () => Promise<Error | null>;
};

/** The limits of one request, and its callbacks. */
export type Bounds = {
  readonly clock: Clock;
  /** Milliseconds from the first byte sent to the last one received. */
  readonly timeout: number;
  /** The maximum size in bytes of a reply's body as received, before decompression. */
  readonly cap: number;
  /** Whether the connection is closed after the request. */
  readonly reset: boolean;
  /** Without it nothing is sent; it is checked last right before the first byte. @default a right that does not end */
  readonly right?: SendRight;
  /** Called once, right before the first byte is sent. */
  readonly onSent?: () => void;
  /** Signals that abort the request. */
  readonly signals: readonly AbortSignal[];
};

/** Sends one request when it is its turn, and collects its reply; rejects only as the renewal of its right does. */
export function exchange({ dispatcher, limit }: Connections, request: Request, bounds: Bounds): Promise<Exchange> {
  const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
  const { right } = bounds;
  let isSettled = false;
  let body: Body = startBody(0);
  let status: number | null = null;
  let headers: Headers = {};
  let controller: Dispatcher.DispatchController | null = null;
  let timer: Disposable | undefined;

  const stop = () => {
    isSettled = true;
    timer?.[Symbol.dispose]();
    for (const signal of bounds.signals) signal.removeEventListener("abort", onAbort);
  };
  const settle = (outcome: Exchange) => {
    stop();
    resolve(outcome);
  };
  const breakOff = (reason: "timeout" | "connection-lost" | "oversize" | "aborted", cause: unknown) => {
    settle({ state: "broken", reason, cause, status, partial: body.bytes() });
    controller?.abort(cause instanceof Error ? cause : new Error(reason, { cause }));
  };
  const onAbort = () => {
    const cause: unknown = abortedOf(bounds.signals)?.reason;
    if (controller === null) settle({ state: "not-sent", reason: "aborted", cause });
    else breakOff("aborted", cause);
  };

  const aborted = abortedOf(bounds.signals);
  if (aborted !== null) return Promise.resolve({ state: "not-sent", reason: "aborted", cause: aborted.reason });
  for (const signal of bounds.signals) signal.addEventListener("abort", onAbort, { once: true });
  // Each dispatched request reports one end, also one that was aborted.
  const dispatch = (end: () => void): void => {
    let isLate = false;
    dispatcher.dispatch(
      { ...request, reset: bounds.reset },
      {
        onRequestStart: (started) => {
          // Aborted in the queue: nothing has been written yet, and nothing will be.
          // Already started: the request may have arrived, so undici must not send it a second time.
          const ended = abortedOf(bounds.signals);
          if (ended !== null || controller !== null)
            return started.abort(new Error("aborted", { cause: ended?.reason }));
          // The connection was waited for too long.
          isLate = right?.isValid() === false;
          if (isLate) return started.abort(new Error("late"));
          controller = started;
          timer = bounds.clock.after(bounds.timeout, () =>
            breakOff("timeout", new Error(`no complete reply within ${bounds.timeout} ms`)),
          );
          bounds.onSent?.();
        },
        onResponseStart: (_, code, received) => {
          if (code < 200) return;
          status = code;
          headers = received;
          body = startBody(Math.min(Number(received["content-length"]) || 0, bounds.cap));
        },
        onResponseData: (_, chunk) => {
          if (body.add(chunk) > bounds.cap)
            return breakOff("oversize", new Error(`the reply is larger than ${bounds.cap} bytes`));
        },
        onResponseEnd: () => {
          end();
          if (status !== null) settle({ state: "answered", status, headers, body: body.bytes() });
          else breakOff("connection-lost", new Error("the reply ended without a status"));
        },
        onResponseError: (_, cause) => {
          end();
          if (isLate && !isSettled) wait();
          else if (controller === null) settle({ state: "not-sent", reason: "unreachable", cause });
          else breakOff("connection-lost", cause);
        },
      },
    );
  };
  const renew = async (end: () => void): Promise<void> => {
    const { monotonic } = bounds.clock;
    const turnAt = monotonic();
    try {
      const cause = (await right?.renew()) ?? null;
      const hasMissedTurn = limit !== null && monotonic() - turnAt > MOST_LATE_MS;
      if (cause === null && !hasMissedTurn && !isSettled) return dispatch(end);
      end();
      if (isSettled) return;
      if (cause === null) wait();
      else settle({ state: "not-sent", reason: "aborted", cause });
    } catch (error) {
      end();
      stop();
      reject(error);
    }
  };
  const begin = (end: () => void): void => {
    if (isSettled) end();
    else if (right?.isValid() === false) void renew(end);
    else dispatch(end);
  };
  const wait = (): void => (limit === null ? begin(() => {}) : limit.wait(begin));
  wait();
  return promise;
}

/** The first of the signals that is aborted; null if none is. */
export function abortedOf(signals: readonly AbortSignal[]): AbortSignal | null {
  return signals.find(({ aborted }) => aborted) ?? null;
}

/** A body while it arrives. */
type Body = {
  /** Appends a chunk, and returns the size of the body. */
  readonly add: (chunk: Buffer) => number;
  readonly bytes: () => Buffer;
};

// With a Content-Length, chunks are copied into one buffer of that size. Joining them at the end would hold a page in
// memory twice.
function startBody(length: number): Body {
  const whole = Buffer.allocUnsafeSlow(length);
  const more: Buffer[] = [];
  let size = 0;
  return {
    add: (chunk) => {
      const fits = more.length === 0 && size + chunk.length <= whole.length;
      if (fits) chunk.copy(whole, size);
      else more.push(chunk);
      size += chunk.length;
      return size;
    },
    bytes: () => {
      if (more.length === 0) return whole.subarray(0, size);
      const rest = more.reduce((sum, chunk) => sum + chunk.length, 0);
      return Buffer.concat([whole.subarray(0, size - rest), ...more], size);
    },
  };
}
